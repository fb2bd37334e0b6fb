// A soak: replicas on one Redis behind a balancer, many sessions and watchers, and every so often a replica or Redis is killed. Every frame and
// every line is counted. Run after a build: npx tsx bench/soak.ts [--replicas 3] [--sessions 100] [--attachments 500] [--seconds 300] [--every 20]
// [--interval 0.2] [--logs FOLDER]. Exits with 1 when anything was lost, doubled, out of order, not the same for all, or ended by itself.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Replica, startGateways } from '../test/support/gateways.js';
import { startBalancer } from './support/balancer.js';
import { Faults } from './support/faults.js';
import { printTable, spread } from './support/figures.js';
import { numberedLines, type Wrongs } from './support/lines.js';
import { type Sat, Sitting } from './support/sitting.js';

/** Intervals without a line that count as a silence. */
const SILENT_INTERVALS = 10;
/** Milliseconds from the last fault until the programs are told to end. */
const CALM_MS = 5000;
/** Complaints that are printed. */
const MAX_COMPLAINTS = 20;
/** Attachments whose story is printed. */
const MAX_STORIES = 10;
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

/** Sessions of `mortal` end with their replica; those of `moves-<n>`, an instance each, go on elsewhere. */
const instances = (sessions: number): string[] => Array.from({ length: sessions }, (_, n) => (n % 2 === 0 ? 'mortal' : `moves-${n}`));

async function writeAgents(folder: string, { sessions, interval }: Options): Promise<string> {
  const command = ['/bin/bash', '-c', numberedLines(interval)];
  const policy = { max_sessions: 10 * sessions };
  const agentOf = (instance: string) => ({
    name: instance,
    command,
    cwd: folder,
    policy: instance === 'mortal' ? policy : { ...policy, reattach: command },
  });
  const file = join(folder, 'agents.json');
  await writeFile(file, JSON.stringify({ agents: Object.fromEntries(instances(sessions).map((name) => [name, agentOf(name)])) }));
  return file;
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
  await writeFile(join(folder, 'stop'), '');
  await over;
  return sat;
}

function report(sat: readonly Sat[], faults: Faults, replicas: readonly Replica[]): boolean {
  const witnesses = sat.flatMap((one) => one.witnesses);
  const sum = (count: (witness: (typeof witnesses)[number]) => number) => witnesses.reduce((total, one) => total + count(one), 0);
  const wrong = (name: keyof Wrongs) => `${sum(({ wrongs }) => wrongs[name])} / ${sum(({ lines }) => lines.wrongs[name])}`;
  const complaints = sat.flatMap((one) => one.complaints);
  const deaths = replicas.flatMap((replica) => replica.deaths);
  const differing = sat.reduce((total, { agreed }) => total + agreed.differing, 0);
  printTable(
    ['what', 'figure'],
    [
      ['replicas killed, Redis killed', `${faults.replicasKilled}, ${faults.redisKilled}`],
      ['replicas that ended by themselves', deaths.length],
      ['sessions', sat.length],
      ['… which went on elsewhere', sat.filter(({ witnesses: [first] }) => (first?.lines.lives ?? 0) > 1).length],
      ['… which printed to their end', sat.filter(({ witnesses: [first] }) => first?.lines.isComplete).length],
      ['attachments, connections', `${witnesses.length}, ${sum(({ connections }) => connections)}`],
      ['frames, lines that were shown', `${sum(({ frames }) => frames)}, ${sum(({ lines }) => lines.count)}`],
      ['lost frames / lines', wrong('lost')],
      ['doubled frames / lines', wrong('doubled')],
      ['out of order frames / lines', wrong('outOfOrder')],
      ['numbers with different bytes', differing],
      ['told that they missed something', sum(({ lags }) => lags)],
      ['complaints', complaints.length],
      ['cut until all that was missed is there', spread(witnesses.flatMap(({ gaps }) => gaps))],
      ['silence of a session that went on', spread(witnesses.flatMap(({ silences }) => silences))],
    ],
  );
  for (const words of [...deaths, ...complaints.slice(0, MAX_COMPLAINTS), ...sat.flatMap(stories).slice(0, MAX_STORIES)])
    console.log(words);
  return deaths.length + differing + complaints.length + sum(({ wrongs, lines }) => total(wrongs) + total(lines.wrongs)) === 0;
}

/** Of those who were shown something wrongly. */
function stories({ sessionId, witnesses }: Sat): string[] {
  const wronged = witnesses.filter(({ wrongs, lines }) => total(wrongs) + total(lines.wrongs) > 0);
  return wronged.map(({ wrongs, lines, story }) => {
    return `${sessionId}: frames ${JSON.stringify(wrongs)}, lines ${JSON.stringify(lines.wrongs)}\n  ${story.join('\n  ')}`;
  });
}

const total = ({ lost, doubled, outOfOrder }: Wrongs): number => lost + doubled + outOfOrder;

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
