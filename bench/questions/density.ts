// What does it cost that sessions are there, and nobody does anything? Memory of a session, an attachment and a thread of the screens, and the CPU of all.
import { setTimeout as later } from 'node:timers/promises';
import { forEach, type Line, watching } from '../load/jobs.js';
import { LoadClient } from '../load/load-client.js';
import { Gateway } from '../peers/gateway.js';
import { waiting, working } from '../peers/programs.js';
import { withCpu } from '../support/cpu.js';
import { herd } from '../support/herd.js';
import { ownKibAtRest } from '../support/memory.js';
import { type Arena, type Contender, figure, type Question } from '../support/question.js';

const [FEW, MANY] = [100, 1000];
/** Attachments, so many to each of some sessions. */
const [WATCHERS, WATCHERS_EACH] = [500, 20];
/** Sessions whose program prints nothing, and reads nothing. */
const SILENT_SESSIONS = 100;
/** Milliseconds for which the CPU is measured. */
const REST_MS = 5000;

const idle = (count: number): string => `${count} idle sessions`;
const [SILENT, WATCHED] = [`${SILENT_SESSIONS} sessions that work in silence`, `${WATCHERS} attachments`];

type Begin = (gateway: Gateway, first: readonly Line[]) => Promise<unknown>;

interface Crowd {
  readonly gateway: Gateway;
  readonly contender: Contender;
}

export const density: Question = {
  name: 'density',
  title: `${FEW} and ${MANY} sessions at a prompt, ${WATCHERS} attachments`,
  budgets: [
    ...[FEW, MANY].map((count) => ({
      path: `an idle session, of ${count}`,
      unit: 'KiB',
      must: { atMost: 600 },
      aim: { atMost: 300 },
      of: figure(idle(count), 'KiB each'),
    })),
    { path: `an attachment, of ${WATCHERS}`, unit: 'KiB', must: { atMost: 60 }, aim: { atMost: 30 }, of: figure(WATCHED, 'KiB each') },
    {
      path: 'the first session, with a thread of the screens',
      unit: 'MiB',
      must: { atMost: 15 },
      of: figure(idle(FEW), 'MiB for the first'),
    },
    { path: '1,000 idle sessions, CPU', unit: '% of a core', must: { atMost: 3 }, aim: { atMost: 1 }, of: figure(idle(MANY), 'CPU %') },
    { path: `${SILENT}, CPU`, unit: '% of a core', must: { atMost: 3 }, of: figure(SILENT, 'CPU %') },
    { path: `${WATCHED}, CPU`, unit: '% of a core', of: figure(WATCHED, 'CPU %') },
  ],
  open,
};

async function open(): Promise<Arena> {
  const load = new LoadClient();
  const more = (argv: readonly string[], count: number) => (gateway: Gateway) => herd(gateway, argv, count);
  const attach = (_gateway: Gateway, lines: readonly Line[]) =>
    load.ask('watch', { lines: lines.flatMap((line) => forEach(WATCHERS_EACH, watching(line))) });
  const crowds = [
    await gather(idle(FEW), FEW, more(waiting, FEW)),
    await gather(idle(MANY), MANY, more(waiting, MANY)),
    await gather(SILENT, SILENT_SESSIONS, more(working, SILENT_SESSIONS)),
    await gather(WATCHED, WATCHERS, attach, WATCHERS / WATCHERS_EACH),
  ];
  return {
    contenders: crowds.map(({ contender }) => contender),
    async close() {
      await load.close();
      for (const { gateway } of crowds) await gateway.close();
    },
  };
}

/** A gateway with `count` of something beside its first sessions. Their memory is taken now, once; what they do in CPU time, in each round. */
async function gather(name: string, count: number, begin: Begin, sessions = 1): Promise<Crowd> {
  const gateway = await Gateway.start();
  const alone = await ownKibAtRest(gateway.pid);
  const lines = await herd(gateway, waiting, sessions);
  const before = await ownKibAtRest(gateway.pid);
  await begin(gateway, lines);
  const after = await ownKibAtRest(gateway.pid);
  const figures = { 'KiB each': (after - before) / count, 'MiB for the first': (before - alone) / 1024 };
  const measure = async () => {
    const { cpu } = await withCpu(gateway.pid, () => later(REST_MS));
    return { ...figures, 'CPU %': (cpu / REST_MS) * 100 };
  };
  return { gateway, contender: { name, measure } };
}
