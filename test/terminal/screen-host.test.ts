// Screens in their worker threads: in order, beside the stream, and there again after a worker hung or died.
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { MAX_BACKLOG } from '../../src/terminal/folded-screen.js';
import { createScreenHost, type ScreenHostOptions, threadsFor } from '../../src/terminal/screen-host.js';
import { type Screen, type ScreenHost, type ScreenStep, ScreenUnavailable, type Snapshot } from '../../src/terminal/terminal.js';
import { MAX_REPLIES } from '../../src/terminal/turns.js';
import { feed, lookOf, reference } from '../support/look.js';

const SIZE = { cols: 80, rows: 24 };
const MORTAL = { workers: 1, stallMs: 500, script: new URL('../support/mortal-worker.ts', import.meta.url) };
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

const hosts: ScreenHost[] = [];
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
});

function host(options: ScreenHostOptions = { workers: 1 }): ScreenHost {
  const made = createScreenHost(options);
  hosts.push(made);
  return made;
}

/** A session as its screen knows it: all that was given, kept as the past. */
class Session {
  readonly past: ScreenStep[] = [];
  readonly screen: Screen;
  reads = 0;

  /** What the screen answered to whom it shows, each with the number of the output that asked. */
  readonly answers: [text: string, sequence: number][] = [];

  constructor(host: ScreenHost, after = 0) {
    const answer = (text: string, sequence: number) => void this.answers.push([text, sequence]);
    this.screen = host.open(SIZE, (upTo) => this.#read(upTo), { after, answer });
  }

  print(text: string): number {
    const step = { kind: 'output', sequence: this.past.length + 1, bytes: bytes(text) } as const;
    this.past.push(step);
    this.screen.output(step.sequence, step.bytes);
    return step.sequence;
  }

  async *#read(upTo = Number.POSITIVE_INFINITY): AsyncIterable<ScreenStep> {
    this.reads += 1;
    const from = this.past.findLastIndex((step) => step.kind === 'snapshot' && step.snapshot.anchor <= upTo);
    for (const step of this.past.slice(Math.max(0, from))) {
      await Promise.resolve();
      yield step;
    }
  }

  async firstLine(): Promise<string | undefined> {
    return (await this.screen.view()).lines[0];
  }
}

async function shownBy(snapshot: Snapshot): Promise<readonly string[]> {
  const terminal = reference(snapshot.cols, snapshot.rows);
  await feed(terminal, snapshot.bytes);
  return lookOf(terminal).text;
}

it('Screens are folded by one thread at least, one core is left to the main thread, and eight threads are enough', () => {
  expect([1, 2, 3, 4, 8, 9, 64].map(threadsFor)).toEqual([1, 1, 2, 3, 7, 8, 8]);
});

describe('a screen', () => {
  it('shows output of any length, given at once or over turns', async () => {
    const lengths = fc.array(fc.record({ length: fc.oneof(fc.nat(40), fc.nat(300_000)), turns: fc.nat(3) }), {
      minLength: 1,
      maxLength: 12,
    });
    const crew = host();
    await fc.assert(
      fc.asyncProperty(lengths, async (pieces) => {
        const session = new Session(crew);
        for (const [i, { length, turns }] of pieces.entries()) {
          session.print(`${' '.repeat(length)}\r\n${i}\r\n`);
          for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
        }
        const { lines } = await session.screen.view();
        expect(lines.findLast((line) => line.trim() !== '')).toBe(`${pieces.length - 1}`);
        session.screen.dispose();
      }),
      {
        numRuns: 30,
        examples: [
          [
            [
              { length: 1, turns: 3 },
              { length: 100_000, turns: 0 },
            ],
          ],
        ],
      },
    );
  });

  it('answers with the state after everything given before the question', async () => {
    const session = new Session(host());
    session.print('one');
    const first = session.screen.snapshot();
    session.print(' two');
    session.screen.resize(3, { cols: 40, rows: 10 });
    const second = session.screen.snapshot();
    const view = await session.screen.view();
    expect((await shownBy(await first))[0]).toBe('one');
    expect(await first).toMatchObject({ anchor: 1, cols: 80, rows: 24 });
    expect((await shownBy(await second))[0]).toBe('one two');
    expect(await second).toMatchObject({ anchor: 3, cols: 40, rows: 10 });
    expect(view).toMatchObject({ sequence: 3, cols: 40, rows: 10, cursor: { row: 0, col: 7, visible: true } });
  });

  it('begins empty, with anchor 0', async () => {
    expect(await new Session(host()).screen.snapshot()).toMatchObject({ anchor: 0, ...SIZE });
  });

  it('leaves the bytes to whoever gave them, who may change them at once', async () => {
    const { screen } = new Session(host());
    const buffer = bytes('mine');
    screen.output(1, buffer);
    buffer.fill(0x78);
    expect((await screen.view()).lines[0]).toBe('mine');
    expect(buffer.byteLength).toBe(4);
  });

  it('counts what is not folded yet', async () => {
    const { screen } = new Session(host());
    screen.output(1, new Uint8Array(100_000).fill(0x61));
    expect(screen.backlog).toBe(100_000);
    await screen.view();
    expect(screen.backlog).toBe(0);
  });

  it('holds a bounded part of a flood, and reads the rest from the past', async () => {
    const session = new Session(host());
    const line = `${'x'.repeat(78)}\r\n`.repeat(6000);
    let most = 0;
    for (let given = 0; given < MAX_BACKLOG * 1.5; given += line.length) {
      session.print(line);
      most = Math.max(most, session.screen.backlog);
    }
    const last = session.print('\x1b[H\x1b[Jend');
    const view = await session.screen.view();
    expect(most).toBeLessThanOrEqual(MAX_BACKLOG);
    expect(session.reads).toBeGreaterThan(0);
    expect([view.sequence, view.lines[0]]).toEqual([last, 'end']);
  });

  it('answers no query of the past', async () => {
    const session = new Session(host(), 2);
    session.print('\x1b[6n');
    session.print('\x1b[6n');
    session.print('live\x1b[6n');
    await session.screen.view();
    expect(session.answers).toEqual([['\x1b[1;5R', 3]]);
  });

  it('answers of one output no more than it may', async () => {
    const session = new Session(host());
    session.print('\x1b[c'.repeat(30_000));
    session.print('\x1b[6n');
    await session.screen.view();
    expect(session.answers.length).toBe(MAX_REPLIES + 1);
    expect(session.answers.at(-1)?.[1]).toBe(2);
  });

  it('is none after it was let go of', async () => {
    const { screen } = new Session(host());
    const asked = screen.snapshot();
    screen.dispose();
    await expect(asked).rejects.toBeInstanceOf(ScreenUnavailable);
    await expect(screen.view()).rejects.toBeInstanceOf(ScreenUnavailable);
  });

  it.each([
    ['scrolls without end', '\x1b[2147483647S'],
    ['scrolls far, often', '\x1b[99999S'],
    ['inserts lines', '\x1b[2147483647L'],
    ['repeats a character', 'x\x1b[2147483647b'],
    ['erases up to the last line', '\x1b[24;80H\x1b[1J'],
    ['heaps marks on a cell', `e${'\u0301'.repeat(200)}`],
    ['opens links', '\x1b]8;;http://example.com\x07x'],
    ['clears the screen', '\x1b[2J'],
  ])('answers while its neighbour %s', async (_, sequence) => {
    const both = host();
    const [hostile, neighbour] = [new Session(both), new Session(both)];
    for (let i = 0; i < 4; i++) hostile.print(sequence.repeat(Math.ceil(60_000 / sequence.length)));
    neighbour.print('here');
    expect(await neighbour.firstLine()).toBe('here');
    expect(hostile.screen.backlog).toBeGreaterThan(0);
    expect((await hostile.screen.snapshot()).anchor).toBe(4);
  });
});

describe('a worker that is lost', () => {
  it('is replaced, and its screens are folded again', async () => {
    const one = host(MORTAL);
    const [victim, cause] = [new Session(one), new Session(one)];
    victim.print('still here');
    cause.print('DIE');
    expect(await victim.firstLine()).toBe('still here');
    victim.print(' and on');
    expect(await victim.firstLine()).toBe('still here and on');
  });

  it.each(['DIE', 'HANG', 'THROW'])('by the same output twice is lost by it no more: %s', async (word) => {
    const one = host(MORTAL);
    const [victim, cause] = [new Session(one), new Session(one)];
    victim.print('still here');
    cause.print('fine');
    cause.print(word);
    await expect(cause.screen.snapshot()).rejects.toThrow(/output 2 cannot be shown/);
    await expect(cause.screen.view()).rejects.toBeInstanceOf(ScreenUnavailable);
    cause.print('ignored');
    expect(cause.screen.backlog).toBe(0);
    expect(await victim.firstLine()).toBe('still here');
    expect(one.lost?.()).toBe(1);
    for (const { screen } of [victim, cause]) screen.dispose();
    expect(one.lost?.()).toBe(0);
  });

  it('is folded from the newest snapshot of the past, and only from what came after it', async () => {
    const session = new Session(host(MORTAL));
    session.print('one');
    const snapshot = await session.screen.snapshot();
    session.past.splice(0, 1, { kind: 'snapshot', snapshot: { ...snapshot, bytes: bytes('from the snapshot') } });
    session.screen.output(2, bytes('THROW'));
    session.past.push({ kind: 'output', sequence: 2, bytes: bytes(', and on') });
    expect(await session.screen.view()).toMatchObject({ sequence: 2, lines: expect.arrayContaining(['from the snapshot, and on']) });
  });

  it('is given the mark again where it was, so that what was printed since is the same', async () => {
    const one = host(MORTAL);
    const [victim, cause] = [new Session(one), new Session(one)];
    victim.print('before\r\n$ ');
    victim.screen.mark('cursor');
    const lines = Array.from({ length: 40 }, (_, i) => `${i}\r\n`).join('');
    victim.print(lines);
    const known = await victim.screen.look();
    cause.print('DIE');
    await expect(cause.screen.view()).rejects.toBeInstanceOf(ScreenUnavailable);
    victim.print('end');
    const place = { fold: known.fold, until: known.printed?.until ?? 0 };
    const { fold, printed } = await victim.screen.look(place);
    expect(fold).not.toBe(known.fold);
    expect(printed).toMatchObject({ from: 0, text: known.printed?.text, open: known.printed?.open, rest: ['end'], isLate: false });
  });

  it('tells that what was printed is not whole when only a later snapshot is left', async () => {
    const session = new Session(host(MORTAL));
    session.print('one');
    session.screen.mark('cursor');
    session.print('two');
    const snapshot = await session.screen.snapshot();
    session.past.splice(0, 2, { kind: 'snapshot', snapshot });
    session.screen.output(3, bytes('THROW'));
    session.past.push({ kind: 'output', sequence: 3, bytes: bytes(' three') });
    expect((await session.screen.look()).printed).toMatchObject({ rest: ['onetwo three'], isLate: true });
    session.screen.unmark();
    expect((await session.screen.look()).printed).toBeUndefined();
  });

  it('is not answered for a second time when its screens are folded again', async () => {
    const one = host(MORTAL);
    const [victim, cause] = [new Session(one), new Session(one)];
    victim.print('a\x1b[6n\x1b[5n');
    await victim.screen.view();
    victim.print('b\x1b[6n');
    cause.print('DIE');
    victim.print('c\x1b[6n');
    await victim.screen.view();
    expect(victim.answers).toEqual([
      ['\x1b[1;2R', 1],
      ['\x1b[0n', 1],
      ['\x1b[1;3R', 2],
      ['\x1b[1;4R', 3],
    ]);
  });

  it('answers what it had not answered, although the past has a newer snapshot', async () => {
    const one = host(MORTAL);
    const [cause, victim] = [new Session(one), new Session(one)];
    await cause.screen.view();
    victim.print('a\x1b[6n');
    await victim.screen.view();
    // Whose turn it is first, since its last was longer ago.
    cause.print('DIE');
    victim.print('b\x1b[6n');
    victim.print('c');
    const snapshot = { bytes: bytes('abc'), cols: SIZE.cols, rows: SIZE.rows, anchor: 3 };
    victim.past.push({ kind: 'snapshot', snapshot });
    expect(await victim.firstLine()).toBe('abc');
    expect(victim.reads).toBeGreaterThan(0);
    expect(victim.answers).toEqual([
      ['\x1b[1;2R', 1],
      ['\x1b[1;3R', 2],
    ]);
  });

  it('makes a question wait for a bounded time', async () => {
    const made = createScreenHost({ ...MORTAL, answerMs: 300 });
    hosts.push(made);
    const screen = made.open(SIZE, async function* () {
      await new Promise(() => {});
      yield* [];
    });
    screen.output(1, bytes('DIE'));
    await expect(screen.snapshot()).rejects.toThrow(/not ready within 300 ms/);
  });
});
