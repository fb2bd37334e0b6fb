// What more sessions cost: CPU of those at a prompt, CPU of those that print. Knows no picture.
import { setTimeout as later } from 'node:timers/promises';
import { watching } from '../load/jobs.js';
import { LoadClient } from '../load/load-client.js';
import { compile } from '../peers/c-programs.js';
import { Gateway } from '../peers/gateway.js';
import { waiting } from '../peers/programs.js';
import { withCpu } from '../support/cpu.js';
import { starter } from '../support/crowd.js';
import type { Curve } from '../support/curve.js';
import { herd, inTurn } from '../support/herd.js';
import { openWorkshop } from '../support/workshop.js';

const IDLE = [50, 100, 200, 400, 800];
const BUSY = [20, 40, 80, 160];
/** What each busy session prints: 20 KB/s. */
const [BURST_BYTES, PAUSE_MS] = [2000, 100];
/** Milliseconds until those that were begun are at rest. */
const SETTLE_MS = 4000;
/** Milliseconds for which the CPU is measured. */
const WHILE_MS = 5000;

const share = async (gateway: Gateway): Promise<number> => ((await withCpu(gateway.pid, () => later(WHILE_MS))).cpu / WHILE_MS) * 100;

export async function idleSessions(): Promise<Curve[]> {
  const gateway = await Gateway.start();
  const points: Array<[number, number]> = [];
  for (let there = 0; points.length < IDLE.length; ) {
    const size = IDLE[points.length] as number;
    await herd(gateway, waiting, size - there);
    there = size;
    await later(SETTLE_MS);
    points.push([size, await share(gateway)]);
  }
  await gateway.close();
  return [{ name: 'CPU of idle sessions', of: 'sessions', unit: '% of a core', points }];
}

/** Each watched by one. */
export async function busySessions(): Promise<Curve[]> {
  const workshop = openWorkshop();
  const { printer } = compile(workshop.folder);
  const argv = [printer, `${BURST_BYTES}`, `${PAUSE_MS * 1000}`, '0'];
  const points: Array<[number, number]> = [];
  for (const size of BUSY) {
    const [gateway, load] = [await Gateway.start(), new LoadClient()];
    const lines = await herd(gateway, argv, size);
    const typists = await inTurn(lines, starter);
    await load.ask('watch', { lines: lines.map(watching) });
    for (const typist of typists) typist.key();
    await later(PAUSE_MS * 10);
    points.push([size, await share(gateway)]);
    for (const typist of typists) typist.close();
    await Promise.all([load.close(), gateway.close()]);
  }
  workshop.close();
  return [{ name: 'CPU of sessions that print 20 KB/s', of: 'sessions', unit: '% of a core', points }];
}
