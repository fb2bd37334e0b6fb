// What does it cost that many sessions print a little? Event-loop delay and CPU with 100 busy sessions, each watched by one, beside the same server at rest.
import { setTimeout as later } from 'node:timers/promises';
import { watching } from '../load/jobs.js';
import { LoadClient } from '../load/load-client.js';
import { compile } from '../peers/c-programs.js';
import { Gateway } from '../peers/gateway.js';
import { withCpu } from '../support/cpu.js';
import { starter } from '../support/crowd.js';
import { herd, inTurn } from '../support/herd.js';
import { type Arena, type Contender, figure, type Question } from '../support/question.js';
import { openWorkshop } from '../support/workshop.js';

const SESSIONS = 100;
/** Each prints so much so often: 2 MB/s of all of them. */
const [BURST_BYTES, PAUSE_MS] = [2000, 100];
/** Milliseconds for which it is measured. */
const WHILE_MS = 6000;
/** What Node's measure of the delay says where there is none: how often it looks, in milliseconds. */
const RESOLUTION_MS = 10;

const [REST, BUSY] = ['at rest', 'busy'];

export const busy: Question = {
  name: 'busy',
  title: `${SESSIONS} sessions print ${BURST_BYTES} bytes each ${PAUSE_MS} ms, one watches each of them`,
  budgets: [
    {
      path: `event loop p99, ${SESSIONS} busy sessions`,
      unit: 'ms',
      must: { atMost: 50 },
      aim: { atMost: 10 },
      of: figure(BUSY, 'p99 ms'),
    },
    { path: 'event loop p99, at rest', unit: 'ms', of: figure(REST, 'p99 ms') },
    { path: `${SESSIONS} busy sessions, CPU of each`, unit: '% of a core', of: figure(BUSY, 'CPU % each') },
  ],
  open,
};

/** The gateway at rest has its sessions, too: their programs wait for a key. */
async function open(): Promise<Arena> {
  const workshop = openWorkshop();
  const { printer } = compile(workshop.folder);
  const argv = [printer, `${BURST_BYTES}`, `${PAUSE_MS * 1000}`, '0'];
  const [rest, work, load] = [await Gateway.start(), await Gateway.start(), new LoadClient()];
  const idle = await herd(rest, argv, SESSIONS);
  const lines = await herd(work, argv, SESSIONS);
  const typists = await inTurn([...idle, ...lines], starter);
  await load.ask('watch', { lines: [...idle, ...lines].map(watching) });
  for (const typist of typists.slice(idle.length)) typist.key();
  for (const typist of typists) typist.leave();
  return {
    contenders: [loop(REST, rest), loop(BUSY, work)],
    async close() {
      await load.close();
      await Promise.all([rest.close(), work.close()]);
      workshop.close();
    },
  };
}

function loop(name: string, gateway: Gateway): Contender {
  return {
    name,
    async measure() {
      await gateway.loopDelay();
      const { cpu } = await withCpu(gateway.pid, () => later(WHILE_MS));
      const delay = await gateway.loopDelay();
      return {
        'p99 ms': delay.p99 - RESOLUTION_MS,
        'p50 ms': delay.p50 - RESOLUTION_MS,
        'CPU % each': ((cpu / WHILE_MS) * 100) / SESSIONS,
      };
    },
  };
}
