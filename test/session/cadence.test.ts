// When the log gets Keyframes, over a session that is nothing but its log and its text.
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Cadence } from '../../src/session/cadence.js';
import type { Snapshot } from '../../src/terminal/terminal.js';

type Logged = { sequence: number; kind: 'Output' | 'Resize' | 'Keyframe'; text: string; anchor?: number };

/** More than may follow a picture without a newer one being waited for. */
const FLOOD = '.'.repeat(70_000);

/** A session reduced to its log and a screen that is the text printed since the last resize. */
class Bench {
  readonly log: Logged[] = [];
  readonly #flying: Logged[] = [];
  readonly #asked: Array<{ answer: (snapshot: Snapshot) => void; state: Snapshot; refuse: (e: Error) => void }> = [];
  #screen = { text: '', anchor: 0 };
  #next = 1;
  readonly cadence: Cadence;

  constructor(limits: { frames: number; seconds: number }) {
    this.cadence = new Cadence(limits, {
      snapshot: () =>
        new Promise((answer, refuse) => {
          const { text, anchor } = this.#screen;
          this.#asked.push({ answer, refuse, state: { cols: 1, rows: 1, bytes: Buffer.from(text), anchor } });
        }),
      write: ({ bytes, anchor }) => void this.#append('Keyframe', Buffer.from(bytes).toString(), anchor),
      release: () => {},
    });
  }

  output(fill = ''): void {
    if (this.cadence.holding) return;
    const text = `${this.#next}${fill},`;
    this.cadence.appended(this.#append('Output', text).sequence, Buffer.from(text));
  }
  flood(): void {
    this.output(FLOOD);
  }
  /** For as long as a newer picture is waited for. */
  async wait(): Promise<void> {
    await vi.advanceTimersByTimeAsync(20);
  }
  resize(): void {
    this.cadence.appended(this.#append('Resize', '').sequence);
  }
  take(): void {
    const step = this.#flying.shift();
    if (!step || step.kind === 'Keyframe') return;
    this.#screen = { text: step.kind === 'Resize' ? `R${step.sequence},` : this.#screen.text + step.text, anchor: step.sequence };
    this.cadence.taken();
  }
  async answer(): Promise<void> {
    const asked = this.#asked.shift();
    asked?.answer(asked.state);
    await Promise.resolve();
    await Promise.resolve();
  }
  async refuse(): Promise<void> {
    this.#asked.shift()?.refuse(new Error('no screen'));
    await Promise.resolve();
    await Promise.resolve();
  }
  #append(kind: Logged['kind'], text: string, anchor?: number): Logged {
    const entry = { sequence: this.#next++, kind, text, ...(anchor === undefined ? {} : { anchor }) };
    this.log.push(entry);
    this.#flying.push(entry);
    return entry;
  }

  /** What a screen shows that saw all below a number. */
  truth(below: number): { text: string; anchor: number } {
    let text = '';
    let anchor = 0;
    for (const e of this.log) {
      if (e.sequence >= below || e.kind === 'Keyframe') continue;
      text = e.kind === 'Resize' ? `R${e.sequence},` : text + e.text;
      anchor = e.sequence;
    }
    return { text, anchor };
  }
}

describe('The cadence of Keyframes', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('writes Keyframes that hold all before them, at most N Outputs apart, however late the log and the screen are', async () => {
    const op = fc.constantFrom(
      'output',
      'output',
      'output',
      'flood',
      'wait',
      'take',
      'take',
      'take',
      'answer',
      'answer',
      'resize',
      'refuse',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(op, { maxLength: 200 }), fc.integer({ min: 1, max: 9 }), async (ops, frames) => {
        const bench = new Bench({ frames, seconds: 5 });
        let refused = false;
        for (const o of ops) {
          if (o === 'refuse') refused = true;
          await bench[o as 'output']();
        }
        bench.cadence.stop();
        let run = 0;
        for (const e of bench.log) {
          if (e.kind === 'Keyframe') expect({ text: e.text, anchor: e.anchor }).toEqual(bench.truth(e.sequence));
          run = e.kind === 'Keyframe' ? 0 : run + (e.kind === 'Output' ? 1 : 0);
          if (!refused) expect(run).toBeLessThanOrEqual(frames);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('writes one within the interval after output began, and none while there is none', async () => {
    const bench = new Bench({ frames: 1000, seconds: 5 });
    bench.output();
    bench.take();
    await vi.advanceTimersByTimeAsync(5000);
    await bench.answer();
    expect(bench.log.map((e) => e.kind)).toEqual(['Output', 'Keyframe']);
    await vi.advanceTimersByTimeAsync(60_000);
    await bench.answer();
    expect(bench.log.map((e) => e.kind)).toEqual(['Output', 'Keyframe']);
  });

  it('waits a moment for a newer picture where much follows the one that there is, and then does with that', async () => {
    for (const isAnswered of [true, false]) {
      const bench = new Bench({ frames: 2, seconds: 5 });
      bench.output();
      bench.take();
      await bench.answer();
      bench.flood();
      expect(bench.cadence.holding).toBe(true);
      bench.take();
      // The first was asked for before the log had taken the flood.
      if (isAnswered) for (let i = 0; i < 2; i++) await bench.answer();
      else await bench.wait();
      expect(bench.log.map(({ kind }) => kind)).toEqual(['Output', 'Output', 'Keyframe']);
      expect(bench.cadence.holding).toBe(false);
    }
  });

  it('holds output no longer than a second for a screen that does not answer', async () => {
    const bench = new Bench({ frames: 2, seconds: 5 });
    for (let i = 0; i < 3; i++) bench.output();
    expect(bench.cadence.holding).toBe(true);
    expect(bench.log).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1000);
    expect(bench.cadence.holding).toBe(false);
    bench.output();
    expect(bench.log).toHaveLength(3);
  });
});
