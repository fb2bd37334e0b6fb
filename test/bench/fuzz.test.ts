// A small slice of the fuzzers, with other inputs each time: what they look for in the millions (npm run bench:fuzz) is not there in thousands either.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fuzz } from '../../bench/fuzz/index.js';

const INPUTS = 3_000;

it('A gateway is neither ended nor upset by strange inputs, and grants none that it must not', async () => {
  const seed = fc.readConfigureGlobal()?.seed ?? Math.floor(Math.random() * 2 ** 31);
  const { attacks, crashes, errors } = await fuzz(INPUTS, seed);
  const wrongs = attacks.flatMap(({ name, wrongs }) => wrongs.map((wrong) => `${name}: ${wrong}`));
  expect({ seed, crashes, wrongs, errors }).toEqual({ seed, crashes: 0, wrongs: [], errors: [] });
  expect(attacks.every(({ sent }) => sent > 0)).toBe(true);
}, 120_000);
