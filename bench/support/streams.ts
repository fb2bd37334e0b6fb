// What programs print by the megabyte: text, coloured text, a screen drawn again and again. Knows no terminal.
const random = (n: number): number => Math.floor(Math.random() * n);
export const line = (): string => Array.from({ length: 110 }, () => String.fromCharCode(97 + random(26))).join('');

export const streams: Readonly<Record<string, () => string>> = {
  text: () => `${line()}\r\n`,
  coloured: () => `\x1b[3${random(8)}m${line().slice(0, 30)}\x1b[1;4${random(8)}m${line().slice(0, 40)}\x1b[0m\r\n`,
  'full-screen redraws': () => `\x1b[${1 + random(30)};${1 + random(60)}H\x1b[38;5;${random(256)}m${line().slice(0, 40)}\x1b[K`,
};

/** At least so many bytes, as pieces are about 80 of them. */
export const streamOf = (piece: () => string, bytes: number): Buffer =>
  Buffer.from(Array.from({ length: Math.ceil(bytes / 80) }, piece).join(''));
