// How long a session is silent when its replica is killed or drains, as a client on another replica sees it: from the last output of the old life
// to the first Keyframe or output of the new one. Run after a build: npx tsx bench/takeover.ts [--rounds 10] [--lease 2]
import { parseArgs } from 'node:util';
import { type Gateways, type Replica, startGateways, tokenFor } from '../test/support/gateways.js';
import { counting, Onlooker } from '../test/support/onlooker.js';
import { printTable, quantile } from './support/figures.js';

const PRINTING = counting(1_000_000, 0.01);
/** What goes on with it prints as often, and something else. */
const REATTACH = ['/bin/bash', '-c', 'while :; do echo again; sleep 0.01; done'];

type Ending = 'SIGKILL' | 'SIGTERM';

/** Milliseconds of silence, by a client at the other replica. */
async function silence(gateways: Gateways, owner: Replica, other: Replica, ending: Ending): Promise<number> {
  const id = await gateways.begin(owner, ...PRINTING);
  const onlooker = new Onlooker({ url: gateways.urlOf(id, other), token: tokenFor('onlooker', 'pty:observe') });
  await onlooker.sees('n20\r\n');
  // The Keyframe with which it came in is none of the new life.
  await onlooker.isLive();
  let lastHeard = performance.now();
  const gap = new Promise<number>((done) => {
    const comesBack = () => done(performance.now() - lastHeard);
    onlooker.client.on('keyframe', comesBack);
    onlooker.client.on('output', (bytes) => {
      if (Buffer.from(bytes).includes('again')) comesBack();
      else lastHeard = performance.now();
    });
  });
  const stopped = owner.stop(ending);
  const took = await gap;
  await stopped;
  onlooker.client.close();
  await gateways.ask(other, 'DELETE', `/${id}`);
  await owner.start();
  return took;
}

async function rounds(gateways: Gateways, ending: Ending, count: number): Promise<number[]> {
  const all: number[] = [];
  for (let round = 0; round < count; round++) all.push(await silence(gateways, gateways.at(0), gateways.at(1), ending));
  return all;
}

async function main(): Promise<void> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ options: { rounds: { ...text, default: '10' }, lease: { ...text, default: '2' } } });
  const pty = { keyframe_interval_seconds: 3600, keyframe_interval_frames: 100_000, replay_buffer_frames: 200_000 };
  const gateways = await startGateways({ pty, policy: { reattach: REATTACH }, env: { REPLICA_LEASE_SECONDS: values.lease } });
  try {
    const rows: Array<readonly [string, string, string]> = [];
    for (const ending of ['SIGKILL', 'SIGTERM'] as const) {
      const gaps = await rounds(gateways, ending, Number(values.rounds));
      rows.push([ending, quantile(gaps, 0.5).toFixed(0), Math.max(...gaps).toFixed(0)]);
    }
    printTable([`of the owner (lease ${values.lease} s)`, 'silence p50, ms', 'max, ms'], rows);
  } finally {
    await gateways.dispose();
  }
}

await main();
process.exit(0);
