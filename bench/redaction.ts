// What redaction costs, in MB/s and as a share of the way of a stream through the log's side of a session. Knows only src/redaction.
// Run with: npm run bench:redaction
import { compilePattern } from '../src/redaction/line-patterns.js';
import { Redactor } from '../src/redaction/redactor.js';
import { seek } from '../src/redaction/sought.js';
import { Fold } from '../src/terminal/fold.js';

const CHUNK_BYTES = 64 * 1024;
const STREAM_BYTES = 32 * 1024 * 1024;
const FOLDED_BYTES = 8 * 1024 * 1024;
const ROUNDS = 3;
const SIZE = { cols: 120, rows: 30 };

const words = 'the build of packages and their tests went through without any error in libpty or the gateway'.split(' ');
const word = (i: number) => words[(i * 7919) % words.length] as string;
const sentence = (i: number) => Array.from({ length: 12 }, (_, j) => word(i * 12 + j)).join(' ');

const makers: Readonly<Record<string, (i: number) => string>> = {
  text: (i) => `${sentence(i)}\r\n`,
  coloured: (i) =>
    `\x1b[32m[${i % 100}%]\x1b[0m \x1b[1mCompiling\x1b[0m src/${word(i)}/${word(i + 1)}.ts \x1b[33mwarning:\x1b[0m ${word(i + 2)}\r\n`,
  redraws: (i) => `\x1b[${(i % 30) + 1};${(i % 60) + 1}H\x1b[38;5;${i % 256}m${word(i)} ${i}\x1b[K`,
  base64: (i) => `${Buffer.from(sentence(i)).toString('base64')}\r\n`,
};

const secrets = Array.from({ length: 5 }, (_, i) => `${i}kP9vX2mQ7rT4wZ8bN3cL6hJ5gF1dS0aY${i}`);
const patterns = ['password: \\S+', 'employee-[0-9]{4}'].map(compilePattern);

function stream(make: (i: number) => string, length: number): Uint8Array[] {
  const parts: string[] = [];
  for (let i = 0, bytes = 0; bytes < length; i++) {
    const part = make(i);
    parts.push(part);
    bytes += part.length;
  }
  const whole = Buffer.from(parts.join(''));
  return Array.from({ length: Math.floor(length / CHUNK_BYTES) }, (_, i) => whole.subarray(i * CHUNK_BYTES, (i + 1) * CHUNK_BYTES));
}

/** MB/s, the best of the rounds. */
function rate(chunks: readonly Uint8Array[], begin: () => (chunk: Uint8Array) => void): number {
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const times = Array.from({ length: ROUNDS }, () => {
    const take = begin();
    const begun = performance.now();
    for (const chunk of chunks) take(chunk);
    return performance.now() - begun;
  });
  return bytes / 1e3 / Math.min(...times);
}

function redacting(more: { secrets?: readonly string[]; patterns?: typeof patterns }, emit: (bytes: Uint8Array) => void = () => {}) {
  const sought = seek(more.secrets ?? []);
  return () => {
    const redactor = new Redactor(sought, more.patterns ?? [], SIZE.cols, emit);
    return (chunk: Uint8Array) => redactor.push(chunk);
  };
}

const folding = () => {
  const fold = new Fold(SIZE);
  return (chunk: Uint8Array) => fold.piece(chunk);
};

const begun = performance.now();
seek(secrets);
console.log(`made ready for ${secrets.length} secrets in ${(performance.now() - begun).toFixed(1)} ms\n`);
console.log('| stream | tokens and keys, MB/s | with 5 secrets | with 2 patterns, too | the fold of the same screen, MB/s |');
console.log('| --- | --- | --- | --- | --- |');
for (const [name, make] of Object.entries(makers)) {
  const chunks = stream(make, STREAM_BYTES);
  const rates = [redacting({}), redacting({ secrets }), redacting({ secrets, patterns })].map((begin) => rate(chunks, begin));
  rates.push(rate(chunks.slice(0, FOLDED_BYTES / CHUNK_BYTES), folding));
  console.log(`| ${name} | ${rates.map((one) => one.toFixed(0)).join(' | ')} |`);
}
