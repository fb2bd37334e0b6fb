// What runs in the terminals that are measured. Each tells that it is there by a dot, and waits for a key. Knows no server.

/** Echoes what is typed. */
export const echoing = ['/bin/bash', '-c', 'stty raw -echo; printf .; exec cat'] as const;
/** Shows a prompt and waits for somebody to type: what a shell does that nobody uses. */
export const waiting = ['/bin/sh', '-c', 'printf "$ "; exec cat'] as const;
/** Does something else than to read its terminal, without a word. */
export const working = ['/bin/sh', '-c', 'printf .; exec sleep 100000'] as const;
/** Prints a file as it is, then ends. */
export const printing = (file: string): readonly string[] => [
  '/bin/bash',
  '-c',
  `stty raw -echo; printf .; head -c 1 >/dev/null; exec cat ${file}`,
];
const COLS = 100;
/** The first of the printable characters, and how many they are. */
const [FIRST, PRINTABLE] = [33, 93];

/** Lines of text that look like a log's, every fifth with a colour; the same each time. */
export function text(bytes: number): Buffer {
  let seed = 1;
  const next = () => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed;
  };
  const word = () => String.fromCharCode(...Array.from({ length: 2 + (next() % 8) }, () => FIRST + (next() % PRINTABLE)));
  const lines = Array.from({ length: 1000 }, (_, n) => {
    let line = '';
    while (line.length < COLS) line += `${word()} `;
    const plain = line.slice(0, COLS);
    return n % 5 === 0 ? `\x1b[3${1 + (n % 7)}m${plain.slice(0, 12)}\x1b[0m${plain.slice(12)}\r\n` : `${plain}\r\n`;
  });
  const block = Buffer.from(lines.join(''));
  return Buffer.concat(Array.from({ length: Math.ceil(bytes / block.length) }, () => block)).subarray(0, bytes);
}
