// How many answers a program gets, and which keys are an answer.
import { describe, expect, it } from 'vitest';
import { Answers } from '../../src/session/answers.js';

/** A terminal that reads at once, or never; and a clock that stands still until it is moved. */
function answers({ reads = true } = {}) {
  const typed: string[] = [];
  const clock = { ms: 0 };
  const write = (bytes: Uint8Array): Promise<void> => {
    typed.push(Buffer.from(bytes).toString());
    return reads ? Promise.resolve() : new Promise(() => {});
  };
  return { typed, clock, answers: new Answers(write, () => clock.ms) };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('answers', () => {
  it('to a whole palette are given at once, and to a flood only as many as its program may have a second', async () => {
    const { typed, clock, answers: given } = answers();
    const ask = async (count: number) => {
      for (let i = 0; i < count; i++) {
        given.answer('\x1b[0n', 1);
        if (i % 100 === 0) await settle();
      }
    };
    await ask(300);
    expect(typed).toHaveLength(300);
    await ask(5000);
    const burst = typed.length;
    expect(burst).toBeLessThan(600);
    clock.ms += 1000;
    await ask(5000);
    expect(typed.length - burst).toBeGreaterThan(100);
    expect(typed.length - burst).toBeLessThan(300);
  });

  it('are given to every question of a program that waits for each, however long it goes on', async () => {
    let answered = () => {};
    const given = new Answers(async () => answered());
    for (let i = 0; i < 600; i++) {
      const answer = new Promise<void>((resolve) => {
        answered = resolve;
      });
      given.answer('\x1b[0n', i);
      await answer;
    }
  });

  it('never fill the way to a program that does not read', () => {
    const { typed, answers: given } = answers({ reads: false });
    for (let i = 0; i < 500; i++) given.answer(`\x1b[${'1'.repeat(40)}c`, 1);
    expect(typed.join('').length).toBeLessThanOrEqual(4096);
    expect(typed.length).toBeGreaterThan(50);
  });

  it('to a cursor query are known again by their value, where it is known', () => {
    const { answers: given } = answers();
    given.answer('\x1b[1;2R', 7);
    given.answer('\x1b[1;5R', 8);
    expect(given.isAnswer('\x1b[1;2R', [7])).toBe(true);
    expect(given.isAnswer('\x1b[1;2R', [8])).toBe(false);
    expect(given.isAnswer('\x1b[1;2R', [8, 7])).toBe(true);
    expect(given.isAnswer('\x1b[1;2R', [9])).toBe(true);
    expect(given.isAnswer('\x1b[1;2R', [])).toBe(false);
  });
});
