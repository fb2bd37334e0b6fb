// How pieces are joined: no byte lost, none late, few calls. Pure: the timer is ours.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Coalescer, MAX_JOINED_BYTES, MAX_WAIT_MS, PROMPT_PIECES } from '../../src/terminal/coalesce.js';

/** A coalescer whose time passes when we say so. */
function coalescer() {
  const emitted: Uint8Array[] = [];
  let now = 0;
  let due: { at: number; callback: () => void } | undefined;
  const subject = new Coalescer(
    (bytes) => emitted.push(bytes),
    (ms, callback) => {
      due = { at: now + ms, callback };
      return () => {
        due = undefined;
      };
    },
  );
  const put = (bytes: Uint8Array) => {
    subject.room().set(bytes);
    subject.filled(bytes.length);
  };
  const pass = (ms: number) => {
    for (const end = now + ms; ; ) {
      if (!due || due.at > end) {
        now = end;
        return;
      }
      const { at, callback } = due;
      now = at;
      due = undefined;
      callback();
    }
  };
  return { subject, emitted, put, pass, idle: () => due === undefined };
}

const piece = (length: number, fill = 97) => new Uint8Array(length).fill(fill);
const text = (parts: readonly Uint8Array[]) => Buffer.concat(parts).toString();

describe('Coalescer', () => {
  it('lets the first bytes after silence go at once', () => {
    const { emitted, put } = coalescer();
    put(Buffer.from('$ '));
    expect(text(emitted)).toBe('$ ');
  });

  it('joins what follows the first pieces of a burst, for 4 ms at most', () => {
    const { emitted, put, pass } = coalescer();
    for (let i = 0; i < PROMPT_PIECES; i++) put(piece(1));
    put(Buffer.from('later'));
    put(Buffer.from(' on'));
    expect(emitted).toHaveLength(PROMPT_PIECES);
    pass(MAX_WAIT_MS);
    expect(emitted.slice(PROMPT_PIECES).map(String)).toEqual([String(Buffer.from('later on'))]);
  });

  it('answers a key at once in the middle of a flood', () => {
    const { subject, emitted, put } = coalescer();
    for (let i = 0; i < PROMPT_PIECES; i++) put(piece(1));
    put(Buffer.from('flood '));
    subject.hurry();
    put(Buffer.from('echo'));
    expect(text(emitted.slice(PROMPT_PIECES))).toBe('flood echo');
  });

  it('begins a new burst after silence, and then holds no timer', () => {
    const { emitted, put, pass, idle } = coalescer();
    for (let i = 0; i < PROMPT_PIECES + 1; i++) put(piece(1));
    pass(2 * MAX_WAIT_MS);
    expect(idle()).toBe(true);
    const before = emitted.length;
    put(piece(1));
    expect(emitted).toHaveLength(before + 1);
  });

  it('hands on what it holds when it is closed', () => {
    const { subject, emitted, put, idle } = coalescer();
    for (let i = 0; i < PROMPT_PIECES; i++) put(piece(1));
    put(Buffer.from('last words'));
    subject.close();
    expect(text(emitted.slice(PROMPT_PIECES))).toBe('last words');
    expect(idle()).toBe(true);
  });

  it('gives every byte once, in order, within 4 ms, never more than 64 KiB together, and never writes over what it gave', () => {
    const step = fc.oneof(
      fc.record({ put: fc.integer({ min: 1, max: 4095 }) }),
      fc.record({ pass: fc.integer({ min: 0, max: 9 }) }),
      fc.constant('hurry' as const),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const { subject, emitted, put, pass } = coalescer();
        const given: Uint8Array[] = [];
        for (const each of steps) {
          if (each === 'hurry') subject.hurry();
          else if ('put' in each) {
            const bytes = piece(each.put, given.length % 251);
            given.push(bytes);
            put(bytes);
          } else pass(each.pass);
          if (each !== 'hurry' && 'pass' in each && each.pass >= MAX_WAIT_MS) expect(total(emitted)).toBe(total(given));
        }
        subject.close();
        expect(Buffer.concat(emitted).equals(Buffer.concat(given))).toBe(true);
        expect(Math.max(0, ...emitted.map((bytes) => bytes.length))).toBeLessThanOrEqual(MAX_JOINED_BYTES);
      }),
    );
  });

  it('lets a flood leave in full pieces but for the first, wherever the clock stands', () => {
    const { subject, emitted, put, pass } = coalescer();
    for (let i = 0; i < 1000; i++) {
      put(piece(4095));
      if (i % 8 === 0) pass(1);
    }
    subject.close();
    const flood = emitted.slice(PROMPT_PIECES + 1, -1).map(({ length }) => length);
    expect(Math.min(...flood)).toBeGreaterThan(MAX_JOINED_BYTES - 2 * 4096);
  });

  it('makes few calls under sustained output', () => {
    const { subject, emitted, put } = coalescer();
    for (let i = 0; i < 1000; i++) put(piece(4095));
    subject.close();
    expect(emitted.length).toBeLessThanOrEqual(PROMPT_PIECES + 1000 / 15);
  });
});

const total = (parts: readonly Uint8Array[]) => parts.reduce((sum, bytes) => sum + bytes.length, 0);
