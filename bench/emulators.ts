// Is another emulator three times as fast as @xterm/headless, and as exact? `npx tsx bench/emulators.ts [FOLDER OF RECORDINGS]`
// Those compared are not part of the project: `npm i --prefix /tmp/emulators ghostty-web@0.4.0 @wterm/core@0.3.4`, and EMULATORS=/tmp/emulators. Knows no gateway.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { feed, reference } from '../test/support/look.js';
import { type Candidate, others, ours, type Shown } from './peers/emulators.js';
import { quantile } from './support/figures.js';
import { isHostile, recordingsOf } from './support/recordings.js';
import { streamOf, streams } from './support/streams.js';

const ROUNDS = 5;
const PIECE_BYTES = 4096;
const STREAM_BYTES = 8 * 1024 * 1024;

/** MB/s of one round, and the screen is read once so that nobody may put the work off. */
function rate({ open }: Candidate, bytes: Buffer): number {
  const emulator = open(120, 30);
  const begun = performance.now();
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) emulator.write(bytes.subarray(at, at + PIECE_BYTES));
  emulator.shown();
  return bytes.length / 1000 / (performance.now() - begun);
}

async function expected(bytes: Buffer, cols: number, rows: number): Promise<Shown> {
  const terminal = reference(cols, rows);
  await feed(terminal, bytes);
  const { active } = terminal.buffer;
  const lines = Array.from(
    { length: rows },
    (_, y) =>
      active
        .getLine(active.viewportY + y)
        ?.translateToString(true)
        .trimEnd() ?? '',
  );
  return { lines, cursor: [active.cursorX, active.cursorY], isAlternate: active.type === 'alternate' };
}

/** Of the recordings of real programs: how many end in the same text, and in the same text with the cursor at the same place. */
async function exactness(folder: string, candidate: Candidate): Promise<string> {
  const counts = { all: 0, text: 0, cursor: 0, died: 0 };
  for (const { file, cols, rows } of recordingsOf(folder).filter((recording) => !isHostile(recording))) {
    const bytes = readFileSync(path.join(folder, file));
    const should = await expected(bytes, cols, rows);
    counts.all++;
    try {
      const emulator = candidate.open(cols, rows);
      emulator.write(bytes);
      const is = emulator.shown();
      const sameText = should.isAlternate === is.isAlternate && should.lines.every((line, y) => line === is.lines[y]);
      if (sameText) counts.text++;
      if (sameText && `${is.cursor}` === `${should.cursor}`) counts.cursor++;
    } catch {
      counts.died++;
    }
  }
  return `${counts.text} of ${counts.all} recordings end in the same text, ${counts.cursor} also at the same place; it failed on ${counts.died}`;
}

const candidates = [ours, ...(process.env.EMULATORS ? await others(process.env.EMULATORS) : [])];
if (candidates.length === 1) console.log('No other emulator: say EMULATORS=FOLDER, as the first lines of this file tell.');
for (const [name, piece] of Object.entries(streams)) {
  const bytes = streamOf(piece, STREAM_BYTES);
  const rates = candidates.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++) for (const [i, candidate] of candidates.entries()) rates[i]?.push(rate(candidate, bytes));
  const of = (i: number): number => quantile(rates[i] ?? [], 0.5);
  console.log(
    `${name}: ${candidates.map((candidate, i) => `${candidate.name} ${of(i).toFixed(1)} MB/s (× ${(of(i) / of(0)).toFixed(2)})`).join('; ')}`,
  );
}
const folder = process.argv[2];
if (folder) for (const candidate of candidates.slice(1)) console.log(`${candidate.name}: ${await exactness(folder, candidate)}`);
