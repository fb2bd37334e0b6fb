// What the receiver makes of letters that come twice, late, or not at all.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readLetters, Sorter, writeLetters } from '../../src/redis/letters.js';

const letter = (number: number, after = number - 1) => ({ number, after, message: Buffer.from(String(number)) });

it('letters are read as they were written', () => {
  const any = fc.record({ number: fc.maxSafeNat(), after: fc.maxSafeNat(), message: fc.uint8Array({ maxLength: 50 }) });
  fc.assert(
    fc.property(fc.array(any), (letters) => {
      const read = readLetters(writeLetters(letters));
      expect(read.map((one) => ({ ...one, message: [...one.message] }))).toEqual(
        letters.map((one) => ({ ...one, message: [...one.message] })),
      );
    }),
  );
});

it('what is cut short is no letter', () => {
  const whole = writeLetters([letter(1), letter(2)]);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: whole.length - 1 }), (end) => {
      fc.pre(end !== whole.length / 2);
      expect(() => readLetters(whole.subarray(0, end))).toThrow(RangeError);
    }),
  );
});

it('however often a sender begins again from what it knows was taken, and whatever copies come late, each is taken once and in order', () => {
  const attempt = fc.record({ batch: fc.integer({ min: 1, max: 5 }), isHeard: fc.boolean(), lateCopies: fc.integer({ min: 0, max: 3 }) });
  fc.assert(
    fc.property(fc.array(attempt), (attempts) => {
      const sorter = new Sorter(10);
      const taken: number[] = [];
      const sent: number[] = [];
      let next = 1;
      for (const { batch, isHeard, lateCopies } of attempts) {
        const numbers = Array.from({ length: batch }, (_, i) => next + i);
        for (const number of [...sent.slice(sent.length - lateCopies), ...numbers]) {
          const missing = sorter.take('a', letter(number));
          if (missing !== undefined) expect(missing).toBe(0);
          if (missing !== undefined) taken.push(number);
        }
        sent.push(...numbers);
        if (isHeard) next += batch;
      }
      expect(taken).toEqual(Array.from({ length: taken.length }, (_, i) => i + 1));
      expect(new Set(taken)).toEqual(new Set(sent));
    }),
  );
});

it('a letter that follows one which never came tells how many are missing; one whose sender gave others up does not', () => {
  const sorter = new Sorter(10);
  expect(sorter.take('a', letter(1))).toBe(0);
  expect(sorter.take('a', letter(4, 1))).toBe(0);
  expect(sorter.take('a', letter(9))).toBe(4);
  expect(sorter.take('a', letter(8))).toBeUndefined();
});

it('of the senders the one that was silent longest is forgotten', () => {
  const sorter = new Sorter(2);
  for (const [sender, number] of [
    ['a', 1],
    ['b', 2],
    ['a', 2],
    ['c', 1],
  ] as const)
    sorter.take(sender, letter(number));
  expect(sorter.take('a', letter(2))).toBeUndefined();
  expect(sorter.take('b', letter(2))).toBe(1);
});
