// Outputs that come together, in turns: what is left out of them, across them, shows in nothing that is told.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fold } from '../../src/terminal/fold.js';
import { type Batch, type Order, Pulse, type Report } from '../../src/terminal/screen-messages.js';
import { Turns } from '../../src/terminal/turns.js';

const SIZE = { cols: 40, rows: 4 };
const ID = 1;

/** One batch of outputs, numbered from 1, that lie one behind the other. */
function batchOf(outputs: readonly Uint8Array[]): Batch {
  let to = 0;
  const orders = outputs.map((bytes, i): Order => {
    const from = to;
    to += bytes.length;
    return { kind: 'output', id: ID, sequence: i + 1, bytes: { from, to } };
  });
  const open: Order = { kind: 'open', id: ID, size: SIZE };
  const ask: Order = { kind: 'ask', id: ID, ticket: 1, question: 'snapshot', after: 0 };
  return { orders: [open, ...orders, ask], bytes: new Uint8Array(Buffer.concat(outputs)), isReturned: true };
}

function done(batch: Batch): Report[] {
  const reports: Report[] = [];
  const turns = new Turns(new Pulse(), (told) => reports.push(...told));
  turns.take(batch);
  while (!turns.idle) turns.turn();
  return reports;
}

/** What was answered to the queries in each output. */
const repliesIn = (reports: readonly Report[]): string[] =>
  reports.flatMap((report) =>
    report.kind === 'replies' ? report.texts.map((text, i) => `${report.sequence}.${report.from + i} ${text}`) : [],
  );

function drawn(outputs: readonly Uint8Array[]): { fold: Fold; replies: string[] } {
  const [at, replies] = [{ sequence: 0, count: 0 }, [] as string[]];
  const fold = new Fold(SIZE, (text) => replies.push(`${at.sequence}.${at.count++} ${text}`));
  for (const [i, bytes] of outputs.entries()) {
    Object.assign(at, { sequence: i + 1, count: 0 });
    fold.output(i + 1, bytes);
  }
  return { fold, replies };
}

const lines = fc.integer({ min: 0, max: 900 }).map((count) => Buffer.from('one more \x1b[31mline\x1b[m\r\n'.repeat(count)));
const other = fc
  .constantFrom('\x1b[6n', '\x1b[c', '\x1b[2;3r', '\x1b[r', '\x1b[31m', '\b', '\x0e', '\x0f', 'x', '\x1b[5;5Hy', '\x1b[', '')
  .map((text) => Buffer.from(text));
const outputs = fc.array(fc.oneof(lines, other), { minLength: 1, maxLength: 12 });

describe('outputs that come together', () => {
  it('give the picture and the answers that they give when all of them is drawn, and are counted whole', () => {
    fc.assert(
      fc.property(outputs, (given) => {
        const reports = done(batchOf(given));
        const whole = drawn(given);
        expect(repliesIn(reports)).toEqual(whole.replies);
        expect(reports.filter(({ kind }) => kind === 'answer')).toEqual([
          { kind: 'answer', id: ID, ticket: 1, value: whole.fold.snapshot() },
        ]);
        const folded = reports.reduce((sum, report) => sum + (report.kind === 'folded' ? report.bytes : 0), 0);
        expect(folded).toBe(Buffer.concat(given).length);
        expect(reports.filter(({ kind }) => kind === 'spent')).toHaveLength(1);
      }),
      { numRuns: 60 },
    );
  });

  it('are drawn once, at their end, where they are a flood', () => {
    const flood = Array.from({ length: 4 }, () => Buffer.from('0123456789\r\n'.repeat(5000)));
    const beats = new Pulse();
    const turns = new Turns(beats, () => {});
    turns.take(batchOf(flood));
    while (!turns.idle) turns.turn();
    // One for each order that is left, one for the piece that is drawn, and one after each turn.
    expect(beats.beats).toBeLessThan(10);
  });
});
