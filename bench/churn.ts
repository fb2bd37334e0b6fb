// Does memory stay flat while people come and go? Sessions begin, are watched, typed to, left, read again and end, for as long as it is told. Once a
// minute: memory, threads, file descriptors. Run after a build: npm run bench:churn -- [--minutes 60] [--at-once 4] [--write FILE]. Exits with 1 if memory grows.
import { readdirSync, writeFileSync } from 'node:fs';
import { setTimeout as later } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { forEach, watching } from './load/jobs.js';
import { LoadClient } from './load/load-client.js';
import { Gateway } from './peers/gateway.js';
import { echoing } from './peers/programs.js';
import { starter } from './support/crowd.js';
import { printTable, quantile, short } from './support/figures.js';
import { machine } from './support/machine.js';
import { ownKib } from './support/memory.js';

const MINUTE_MS = 60_000;
/** Milliseconds between two looks; a minute's value is the least of its looks. */
const LOOK_MS = 1000;
const WATCHERS = 5;
const KEYS = 20;
/** Milliseconds from the end of one session to the beginning of the next, so that the machine is not full. */
const REST_MS = 200;
/** The first part of the time is not judged: until then what is kept of ended sessions is not yet as much as will be kept. */
const UNJUDGED = 0.5;
/** Memory is flat if the last quarter holds at most so many times what the third holds. */
const FLAT = 1.05;

interface Minute {
  readonly minute: number;
  readonly mib: number;
  readonly descriptors: number;
  readonly threads: number;
  readonly sessions: number;
}

/** One session's life: five watch, keys are typed, all leave, it ends, and is read again from its beginning. */
async function life(gateway: Gateway, load: LoadClient): Promise<void> {
  const line = await gateway.begin(echoing);
  const typist = await starter(line);
  await load.ask('watch', { lines: forEach(WATCHERS, watching(line)) });
  for (let key = 0; key < KEYS; key++) typist.key();
  await load.ask('unwatch', {});
  typist.leave();
  await gateway.end(line);
  await load.ask('replay', { line: { ...line, join: { role: 'observer', replayFrom: 0 } } });
}

async function lives(gateway: Gateway, until: number, count: () => void): Promise<void> {
  const load = new LoadClient();
  while (performance.now() < until) {
    await life(gateway, load);
    count();
    await later(REST_MS);
  }
  await load.close();
}

async function looks(gateway: Gateway, minutes: number, sessions: () => number): Promise<Minute[]> {
  const all: Minute[] = [];
  const count = (what: string) => readdirSync(`/proc/${gateway.pid}/${what}`).length;
  for (let minute = 1; minute <= minutes; minute++) {
    let least = Number.POSITIVE_INFINITY;
    for (let ms = 0; ms < MINUTE_MS; ms += LOOK_MS) {
      await later(LOOK_MS);
      least = Math.min(least, ownKib(gateway.pid));
    }
    all.push({ minute, mib: least / 1024, descriptors: count('fd'), threads: count('task'), sessions: sessions() });
    console.error(JSON.stringify(all.at(-1)));
  }
  return all;
}

/** The median of a part of the time, 0…1. */
function part(minutes: readonly Minute[], from: number, to: number): number {
  const [first, last] = [Math.floor(minutes.length * from), Math.ceil(minutes.length * to)];
  return quantile(
    minutes.slice(first, last).map(({ mib }) => mib),
    0.5,
  );
}

const text = (value: string) => ({ type: 'string', default: value }) as const;
const { values } = parseArgs({ options: { minutes: text('60'), 'at-once': text('4'), write: { type: 'string' } } });
const minutes = Number(values.minutes);
const gateway = await Gateway.start();
let ended = 0;
const until = performance.now() + minutes * MINUTE_MS;
const living = Array.from({ length: Number(values['at-once']) }, () => lives(gateway, until, () => void ended++));
const seen = await looks(gateway, minutes, () => ended);
await Promise.all(living);
await gateway.close();
const growth = part(seen, (1 + UNJUDGED) / 2, 1) / part(seen, UNJUDGED, (1 + UNJUDGED) / 2);
const every = Math.ceil(seen.length / 12);
console.log(`${machine()}\n`);
printTable(
  ['minute', 'MiB', 'file descriptors', 'threads', 'sessions ended'],
  seen
    .filter(({ minute }) => minute % every === 0 || minute === 1)
    .map((look) => [look.minute, short(look.mib), look.descriptors, look.threads, look.sessions]),
);
console.log(`\nthe last quarter holds ${growth.toFixed(3)} times what the third does`);
if (values.write) writeFileSync(values.write, `${JSON.stringify(seen)}\n`);
process.exit(growth <= FLAT ? 0 : 1);
