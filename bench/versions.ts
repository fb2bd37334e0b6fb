// Whether this version and an older one can be beside each other on one Redis, and one take the place of the other under load, in both directions.
// Run after a build: npx tsx bench/versions.ts REF [--sessions 8] [--attachments 24] [--interval 0.1]; REF is a commit of the history.
// Needs git, helm, redis-server and haproxy on the PATH. Exits with 1 when anything did not go well.
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Build, buildCommit } from './support/build.js';
import { printTable } from './support/figures.js';
import { type Outcome, tryPair } from './support/pair.js';
import { type Load, type Rolled, rollingRestart } from './support/rolling.js';

/** As short as it may be: what is looked for is loss, not time. */
const VALUES = ['preStopSeconds=1', 'drainSeconds=3'];

function readOptions(): { ref: string; load: Load } {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const options = { sessions: text('8'), attachments: text('24'), interval: text('0.1') };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [ref, ...more] = positionals;
  if (ref === undefined || more.length > 0) throw new Error('expected one commit of the history: npm run bench:versions -- REF');
  return { ref, load: { sessions: Number(values.sessions), attachments: Number(values.attachments), interval: Number(values.interval) } };
}

async function beside(old: Build, now: string): Promise<boolean> {
  const columns = [await tryPair({ owner: old.folder, other: now }), await tryPair({ owner: now, other: old.folder })];
  const told = ({ wrong }: Outcome) => (wrong === undefined ? 'yes' : 'NO');
  const [first = [], second = []] = columns;
  printTable(
    ['a session and its people', `on ${old.commit}, people here`, `here, people on ${old.commit}`],
    first.map((outcome, i) => [outcome.what, told(outcome), told(second[i] ?? outcome)]),
  );
  const wrongs = columns.flat().filter(({ wrong }) => wrong !== undefined);
  for (const { what, wrong } of wrongs) console.log(`${what}: ${wrong}`);
  return wrongs.length === 0;
}

async function inTheOthersPlace(old: Build, now: string, load: Load): Promise<boolean> {
  const up = await rollingRestart('haproxy', load, VALUES, { from: old.folder, to: now });
  const down = await rollingRestart('haproxy', load, VALUES, { from: now, to: old.folder });
  printTable(
    ['under load', `${old.commit} → here`, `here → ${old.commit}`],
    up.verdict.rows.map(([what, figure], row) => [what, figure, down.verdict.rows[row]?.[1] ?? '']),
  );
  for (const word of [up, down].flatMap(({ verdict }) => verdict.words)) console.log(word);
  return [up, down].every(isWell);
}

const isWell = ({ verdict, replaced }: Rolled): boolean => verdict.isClean && replaced.every(({ code }) => code === 0);

async function main(): Promise<boolean> {
  const { ref, load } = readOptions();
  const old = await buildCommit(ref);
  const now = resolve('dist');
  try {
    const areWell = await beside(old, now);
    return (await inTheOthersPlace(old, now, load)) && areWell;
  } finally {
    await old.dispose();
  }
}

process.exit((await main()) ? 0 : 1);
