// A rolling restart as Kubernetes makes it of the chart's pods, under load and behind a balancer; every frame of every attachment is counted.
// Knows no cluster: pods are processes here, and this is what their kubelet does.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { type Gateways, type Replica, startGateways } from '../../test/support/gateways.js';
import { until } from '../../test/support/redis.js';
import { instances, stopAgents, writeAgents } from './agents.js';
import { type Balancer, startBalancer } from './balancer.js';
import { type Pods, renderPods } from './chart.js';
import { startNginx } from './nginx.js';
import { type Sat, Sitting } from './sitting.js';
import { type Verdict, verdictOf } from './verdict.js';

/** Intervals without a line that count as a silence. */
const SILENT_INTERVALS = 10;
/** Milliseconds until all that is to be watched is watched, and after the last pod has come back. */
const CALM_MS = 3000;
const SETTLE_MS = 60_000;
/** Nobody is refused because of the load's size. */
const LIMITS = { RATE_LIMIT_MAX: '1000000', ATTACH_RATE_LIMIT_MAX: '1000000' };

export const balancers = { haproxy: startBalancer, nginx: startNginx };

export interface Load {
  readonly sessions: number;
  /** Of all sessions together. */
  readonly attachments: number;
  /** Seconds between two lines of a session. */
  readonly interval: number;
}

/** What a pod took to end, in milliseconds from its SIGTERM, and with what; and until its successor took work. */
export interface Replaced {
  readonly endedMs: number;
  readonly code: number | null;
  readonly readyMs: number;
}

export interface Rolled {
  readonly verdict: Verdict;
  readonly replaced: readonly Replaced[];
  readonly pods: Pods;
}

/** Folders of builds: pods begin with one, and are replaced by the other. */
export interface Upgrade {
  readonly from: string;
  readonly to: string;
}

/** `values` are the chart's. */
export async function rollingRestart(
  behind: keyof typeof balancers,
  load: Load,
  values: readonly string[] = [],
  upgrade?: Upgrade,
): Promise<Rolled> {
  const pods = await renderPods('replicaCount=3', 'config.TRUST_PROXY=loopback', ...values);
  const folder = await mkdtemp(join(tmpdir(), 'rolling-'));
  const env = { ...pods.env, ...LIMITS, AGENTS_FILE: await writeAgents(folder, load) };
  const gateways = await startGateways({ count: pods.replicas, env, buildOf: () => upgrade?.from });
  const balancer = await balancers[behind](gateways.replicas, folder);
  try {
    const watching = watch(balancer.port, load);
    await until('all is watched', () => watching.live() >= load.attachments * 0.9, SETTLE_MS);
    const replaced = await roll(gateways, balancer, pods, upgrade?.to);
    await later(CALM_MS);
    const sat = await watching.finish(folder);
    const deaths = gateways.replicas.flatMap((replica) => replica.deaths);
    return { verdict: verdictOf(sat, deaths), replaced, pods };
  } finally {
    await balancer.stop();
    await gateways.dispose();
    await rm(folder, { recursive: true, force: true });
  }
}

function watch(port: number, { sessions, attachments, interval }: Load) {
  const sat: Sat[] = [];
  const place = { port, watchers: Math.round(attachments / sessions), silenceMs: SILENT_INTERVALS * interval * 1000 };
  const sittings = instances(sessions).map((instance) => new Sitting({ ...place, instance }, (one) => void sat.push(one)));
  const over = Promise.all(sittings.map((sitting) => sitting.run()));
  return {
    live: () => sittings.flatMap(({ witnesses }) => witnesses.filter(({ state }) => state.name === 'live')).length,
    /** Resolves with all sessions that were, when the last is over. */
    finish: async (folder: string) => {
      for (const sitting of sittings) sitting.last();
      await stopAgents(folder);
      await over;
      return sat;
    },
  };
}

/** One after the other, from the last to the first, as a StatefulSet does; the next one when the one before takes work. */
async function roll({ replicas }: Gateways, balancer: Balancer, pods: Pods, build: string | undefined): Promise<Replaced[]> {
  const all: Replaced[] = [];
  for (const replica of replicas.toReversed()) {
    await balancer.routeTo(replicas.filter((other) => other !== replica));
    if (build !== undefined) replica.build = build;
    all.push(await replace(replica, pods));
    await balancer.routeTo(replicas);
  }
  return all;
}

/** preStop, SIGTERM, and SIGKILL when the grace is over; then a pod of the same name. */
async function replace(replica: Replica, { preStopSeconds, graceSeconds }: Pods): Promise<Replaced> {
  await later(preStopSeconds * 1000);
  const told = performance.now();
  const grace = setTimeout(() => replica.signal('SIGKILL'), (graceSeconds - preStopSeconds) * 1000);
  const code = await replica.stop('SIGTERM').finally(() => clearTimeout(grace));
  const endedMs = performance.now() - told;
  await replica.start();
  return { endedMs, code, readyMs: performance.now() - told - endedMs };
}
