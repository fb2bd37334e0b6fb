// Memory that is used again: whoever holds some is the only one.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Scratch } from '../../src/log/embedded/scratch.js';

it('gives nobody memory that somebody else still has, whatever was given back', () => {
  const steps = fc.array(fc.oneof(fc.integer({ min: 0, max: 400_000 }), fc.constant('back' as const)), { maxLength: 60 });
  fc.assert(
    fc.property(steps, (all) => {
      const scratch = new Scratch();
      const held: Array<{ mark: number; bytes: Buffer }> = [];
      for (const [mark, step] of all.entries()) {
        if (step === 'back') {
          const first = held.shift();
          if (first) scratch.giveBack(first.bytes);
        } else held.push({ mark, bytes: scratch.take(step).fill(mark) });
      }
      for (const { mark, bytes } of held) expect(bytes.every((byte) => byte === mark)).toBe(true);
    }),
    { numRuns: 30 },
  );
});

it('uses memory again that was given back', () => {
  const scratch = new Scratch();
  const first = scratch.take(100_000);
  scratch.giveBack(first);
  expect(scratch.take(50_000).buffer).toBe(first.buffer);
});
