// Strange inputs against a gateway in a process of its own: what crashes it, what makes it hang, and what it takes that it must not take.
// Run with: npm run bench:fuzz [-- --inputs 1000000 --seed 1 --only bodies --sessions 800]. Exits with 1 if anything was found.
import { parseArgs } from 'node:util';
import { attacks, fuzz } from './fuzz/index.js';
import { HANG_MS } from './fuzz/place.js';
import { printTable } from './support/figures.js';

const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    /** Ended sessions that are there before the first input: the end of a long run without its beginning. */
    sessions: { type: 'string', default: '0' },
  },
});
/** Inputs after which it is told that it goes on. */
const PROGRESS = 50_000;

const begun = performance.now();
let done = 0;
const witness = {
  wrong: (what: string) => console.log(`wrong: ${what}`),
  sent: (count: number) => {
    const before = Math.floor(done / PROGRESS);
    done += count;
    if (Math.floor(done / PROGRESS) > before) console.log(`${done} inputs after ${((performance.now() - begun) / 1000).toFixed(0)} s`);
  },
};
const chosen = attacks.filter(({ name }) => values.only === undefined || name.includes(values.only));
const {
  attacks: told,
  hangs,
  crashes,
  errors,
} = await fuzz(Number(values.inputs), Number(values.seed), {
  chosen,
  witness,
  sessions: Number(values.sessions),
});

printTable(
  ['attack', 'inputs', 'seconds', 'wrong'],
  told.map(({ name, sent, seconds, wrongs }) => [name, sent, seconds.toFixed(0), wrongs.length]),
);
const sent = told.reduce((sum, one) => sum + one.sent, 0);
const wrongs = told.reduce((sum, one) => sum + one.wrongs.length, 0);
console.log(
  `\n${sent} inputs (seed ${values.seed}): ${crashes} crashes, ${hangs.count} hangs of more than ${HANG_MS} ms, ${wrongs} wrong, ${errors.length} errors logged.`,
);
console.log(`The slowest probe took ${hangs.worstMs.toFixed(0)} ms; of an idle server beside it, ${hangs.idleWorstMs.toFixed(0)} ms.`);
for (const line of errors.slice(0, 20)) console.log(line);
process.exitCode = crashes + hangs.count + wrongs + errors.length > 0 ? 1 : 0;
