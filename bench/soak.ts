// A soak: replicas on one Redis behind a balancer, many sessions and watchers, and every so often a replica or Redis is killed. Every frame and
// every line is counted. Run after a build: npx tsx bench/soak.ts [--replicas 3] [--sessions 100] [--attachments 500] [--seconds 300] [--every 20]
// [--interval 0.2] [--logs FOLDER]. Exits with 1 when anything was lost, doubled, out of order, not the same for all, or ended by itself.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Replica, startGateways } from '../test/support/gateways.js';
import { instances, stopAgents, writeAgents } from './support/agents.js';
import { startBalancer } from './support/balancer.js';
import { Faults } from './support/faults.js';
import { printTable, spread } from './support/figures.js';
import { type Sat, Sitting } from './support/sitting.js';
import { verdictOf } from './support/verdict.js';

/** Intervals without a line that count as a silence. */
const SILENT_INTERVALS = 10;
/** Milliseconds from the last fault until the programs are told to end. */
const CALM_MS = 5000;
/** Nobody is refused because of the soak's size. */
const LIMITS = { RATE_LIMIT_MAX: '1000000', ATTACH_RATE_LIMIT_MAX: '1000000' };

type Figures = Readonly<Record<'replicas' | 'sessions' | 'attachments' | 'seconds' | 'every' | 'interval', number>>;
type Options = Figures & { readonly logs: string | undefined };

/** `attachments` are of all sessions together, `interval` is the seconds between two lines of a session; what the replicas say is kept in `logs`. */
function readOptions(): Options {
  const defaults = { replicas: '3', sessions: '100', attachments: '500', seconds: '300', every: '20', interval: '0.2' };
  const known = Object.entries(defaults).map(([name, value]) => [name, { type: 'string', default: value }] as const);
  const { values } = parseArgs({ options: { ...Object.fromEntries(known), logs: { type: 'string' } } });
  const { logs, ...figures } = values as Record<string, string>;
  for (const [name, value] of Object.entries(figures))
    if (!(Number(value) > 0)) throw new Error(`--${name} is ${value}; expected a number above 0`);
  return { ...(Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, Number(value)])) as Figures), logs };
}

/** Resolves with all sessions that were, when the last is over. */
async function soak(port: number, folder: string, options: Options, faults: Faults): Promise<Sat[]> {
  const { sessions, attachments, seconds, every, interval } = options;
  const sat: Sat[] = [];
  const place = { port, watchers: Math.round(attachments / sessions), silenceMs: SILENT_INTERVALS * interval * 1000 };
  const sittings = instances(sessions).map((instance) => new Sitting({ ...place, instance }, (one) => void sat.push(one)));
  const over = Promise.all(sittings.map((sitting) => sitting.run()));
  const begun = performance.now();
  const now = () => (performance.now() - begun) / 1000;
  // Those that are due while another is going on are left out.
  for (let at = every; at < seconds; at = every * (1 + Math.floor(Math.max(at, now()) / every))) {
    await later((at - now()) * 1000);
    await faults.one();
    const live = sittings.flatMap(({ witnesses }) => witnesses.filter(({ state }) => state.name === 'live'));
    console.error(`          ${live.length} attachments are live, ${sat.length} sessions are over`);
  }
  await later(CALM_MS);
  for (const sitting of sittings) sitting.last();
  await stopAgents(folder);
  await over;
  return sat;
}

function report(sat: readonly Sat[], faults: Faults, replicas: readonly Replica[]): boolean {
  const { rows, words, gaps, silences, isClean } = verdictOf(
    sat,
    replicas.flatMap((replica) => replica.deaths),
  );
  printTable(
    ['what', 'figure'],
    [
      ['replicas killed, Redis killed', `${faults.replicasKilled}, ${faults.redisKilled}`],
      ...rows,
      ['cut until all that was missed is there', spread(gaps)],
      ['silence of a session that went on', spread(silences)],
    ],
  );
  for (const line of words) console.log(line);
  return isClean;
}

async function main(): Promise<boolean> {
  const options = readOptions();
  const folder = await mkdtemp(join(tmpdir(), 'soak-'));
  // Its Redis puts each step on its disk before it answers.
  const env = { ...LIMITS, TRUST_PROXY: '1', REDIS_DURABLE: 'true', AGENTS_FILE: await writeAgents(folder, options) };
  const { replicas: count, logs } = options;
  const gateways = await startGateways({ count, env, logs });
  const balancer = await startBalancer(gateways.replicas, folder);
  try {
    const faults = new Faults(gateways);
    return report(await soak(balancer.port, folder, options, faults), faults, gateways.replicas);
  } finally {
    await balancer.stop();
    await gateways.dispose();
    await rm(folder, { recursive: true, force: true });
  }
}

process.exit((await main()) ? 0 : 1);
