// When a program is taken to work and to wait, by what the kernel and its screen say.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RETURNS, STILL_MS, Watch } from '../../src/session/task/watch.js';
import type { Activity, Look } from '../../src/terminal/terminal.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A program that does as it is told, watched. */
class Program {
  activity: Activity = 'unknown';
  lines = ['$'];
  pending = false;
  onAlternate = false;
  looks = 0;
  /** How often the kernel was asked. */
  asked = 0;
  readonly changes: Array<readonly [works: boolean, at: number]> = [];
  readonly watch: Watch;
  readonly #begun = performance.now();

  constructor({ works = true, prompt }: { works?: boolean; prompt?: ((lines: readonly string[]) => boolean) | undefined } = {}) {
    const ports = { activity: () => this.#ask(), pending: () => this.pending, look: async () => this.#look() };
    const events = { saw: () => {}, place: () => undefined, changed: (now: boolean) => void this.changes.push([now, this.now]) };
    this.watch = new Watch(ports, events, { quietMs: 1000, prompt }, works);
    this.watch.begin();
  }

  get now(): number {
    return Math.round(performance.now() - this.#begun);
  }

  get works(): boolean | undefined {
    return this.changes.at(-1)?.[0];
  }

  print(...lines: string[]): void {
    this.lines = lines;
    this.watch.heard();
  }

  #ask(): Activity {
    this.asked += 1;
    return this.activity;
  }

  #look(): Look {
    this.looks += 1;
    const cursor = { row: 0, col: 0, visible: true };
    return {
      cols: 80,
      rows: 24,
      sequence: 1,
      cursor,
      title: '',
      lines: this.lines,
      prompt: '',
      onAlternate: this.onAlternate,
      bracketedPaste: false,
      fold: 1,
    };
  }
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

describe('A watched program', () => {
  it('waits soon after it reads its terminal, and after a second without a change where nobody knows', async () => {
    const [reader, other] = [new Program(), new Program()];
    reader.activity = 'reading';
    for (const program of [reader, other]) program.print('$ ');
    await pass(400);
    expect([reader.works, other.works]).toEqual([false, undefined]);
    await pass(1000);
    expect(other.works).toBe(false);
  });

  it('works as long as the kernel says so, however silent it is', async () => {
    const program = new Program();
    program.activity = 'working';
    program.print('begun');
    await pass(3_600_000);
    expect(program.changes).toEqual([]);
    program.activity = 'reading';
    program.print('done');
    await pass(600);
    expect(program.works).toBe(false);
  });

  it('is looked at the more seldom the longer it works in silence, and is found to read without a word a sixteenth of that later', async () => {
    for (const [silence, late] of [
      [5000, 600],
      [60_000, 4000],
      [3_600_000, 15_200],
    ] as const) {
      const program = new Program();
      program.activity = 'working';
      program.print('begun');
      await pass(silence);
      const asked = program.asked;
      await pass(60_000);
      expect(program.asked - asked).toBeLessThan(Math.max(5, (16 * 60_000) / silence));
      program.activity = 'reading';
      await pass(late + 60_000 / 16);
      expect(program.works).toBe(false);
    }
  });

  it('is not found waiting before what it printed just before it read has come, in whatever moment it is looked at', async () => {
    for (let at = 0; at < 600; at += 7) {
      const program = new Program();
      program.activity = 'working';
      program.print('begun');
      await pass(3000 + at);
      program.activity = 'reading';
      await pass(40);
      const waitedBefore = program.changes.length > 0;
      program.print('begun', 'done');
      await pass(1000);
      expect([at, waitedBefore, program.works]).toEqual([at, false, false]);
      program.watch.stop();
    }
  });

  it('works while it waits for something else than its terminal, but no longer than its screen may stand still', async () => {
    const program = new Program();
    program.activity = 'elsewhere';
    program.print('$ curl …');
    await pass(STILL_MS - 1000);
    expect(program.changes).toEqual([]);
    await pass(2000);
    expect(program.works).toBe(false);
  });

  it.each([
    ['has a screen of its own', { onAlternate: true }, undefined],
    ['shows the prompt that was described', {}, () => true],
  ])('waits when it is still though its terminal is read elsewhere, if it %s', async (_, looks, prompt) => {
    const program = Object.assign(new Program({ prompt }), looks);
    program.activity = 'elsewhere';
    program.print('$');
    await pass(1500);
    expect(program.works).toBe(false);
  });

  it('has not come to its first prompt before it has printed anything, unless it reads its terminal', async () => {
    const [silent, reader] = [new Program(), new Program()];
    reader.activity = 'reading';
    await pass(5000);
    expect([silent.works, reader.works]).toEqual([undefined, false]);
    silent.print('$');
    await pass(1500);
    expect(silent.works).toBe(false);
  });

  it('works while it is seen to be busy now and then', async () => {
    const program = new Program();
    program.print('$ make');
    for (let i = 0; i < 20; i++) {
      program.activity = i % 2 === 0 ? 'working' : 'unknown';
      await pass(i % 2 === 0 ? 600 : 300);
    }
    expect(program.changes).toEqual([]);
    await pass(1500);
    expect(program.works).toBe(false);
  });

  it('does not wait because the kernel knows nothing of it for a moment, as between two programs, or before its end', async () => {
    const program = new Program();
    program.activity = 'working';
    program.print('begun');
    await pass(STILL_MS);
    for (let i = 0; i < 20; i++) {
      await pass(937);
      program.activity = 'unknown';
      await pass(90);
      program.activity = 'working';
    }
    expect(program.changes).toEqual([]);
    program.activity = 'unknown';
    await pass(1500 + STILL_MS / 8);
    expect(program.works).toBe(false);
  });

  it('is not believed to read on before it has shown that it has seen its message, or time enough has passed', async () => {
    const program = new Program({ works: false });
    program.activity = 'reading';
    program.print('$');
    await pass(1000);
    program.watch.hold();
    program.watch.submits();
    program.watch.begin();
    await pass(800);
    expect(program.changes).toEqual([]);
    program.print('$ ls', 'file', '$');
    await pass(300);
    expect(program.works).toBe(false);
  });

  it('works while its screen changes, and not while it prints what is there already', async () => {
    const program = new Program();
    for (let i = 0; i < 30; i++) {
      program.print(`${i} s`);
      await pass(200);
    }
    expect(program.changes).toEqual([]);
    for (let i = 0; i < 10; i++) {
      program.print('29 s');
      await pass(200);
    }
    expect(program.works).toBe(false);
  });

  it('works until its prompt is there, but no longer than its screen may stand still', async () => {
    const program = new Program({ prompt: (lines) => lines.includes('>') });
    program.print('thinking');
    await pass(STILL_MS - 1000);
    expect(program.changes).toEqual([]);
    program.print('>');
    await pass(1500);
    expect(program.works).toBe(false);
    const silent = new Program({ prompt: () => false });
    silent.print('?');
    await pass(STILL_MS + 1000);
    expect(silent.works).toBe(false);
  });

  it('is not done while something that it printed is not on its screen', async () => {
    const program = new Program();
    program.activity = 'reading';
    program.pending = true;
    program.print('$');
    await pass(10_000);
    expect(program.changes).toEqual([]);
    program.pending = false;
    await pass(1000);
    expect(program.works).toBe(false);
  });

  it('is not disturbed by what is typed at its prompt', async () => {
    const program = new Program({ works: false });
    program.activity = 'reading';
    for (let i = 0; i < 50; i++) {
      program.print(`$ ${'x'.repeat(i)}`);
      await pass(90);
    }
    expect(program.changes).toEqual([]);
    program.activity = 'working';
    program.print('$ make');
    await pass(400);
    expect(program.works).toBe(true);
  });

  it('that comes and goes is told of a bounded number of times', async () => {
    const program = new Program({ works: false });
    for (let i = 0; i < 600; i++) {
      program.print(`tick ${i}`);
      await pass(i % 4 === 0 ? 3000 : 300);
    }
    const minutes = program.now / 60_000;
    expect(program.changes.length).toBeGreaterThan(10);
    expect(program.changes.length).toBeLessThanOrEqual(2 * (RETURNS + 1 + minutes * 6));
  });

  it('costs nothing while it waits in silence, and four looks a second while it prints', async () => {
    const program = new Program({ works: false });
    await pass(1000);
    const before = program.looks;
    expect(vi.getTimerCount()).toBe(0);
    for (let i = 0; i < 1000; i++) {
      program.print(`line ${i}`);
      await pass(10);
    }
    expect(program.looks - before).toBeLessThanOrEqual(41);
  });
});
