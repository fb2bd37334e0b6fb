// How long does somebody who comes late wait for the screen? Milliseconds from the join to its Keyframe, in a session that prints all the time.
import { LoadClient } from '../load/load-client.js';
import { compile } from '../peers/c-programs.js';
import { Gateway } from '../peers/gateway.js';
import { starter } from '../support/crowd.js';
import { quantile } from '../support/figures.js';
import { type Arena, figure, type Question } from '../support/question.js';
import { openWorkshop } from '../support/workshop.js';

const JOINS = 60;
/** What the busy session prints: 1 MB/s. */
const [BURST_BYTES, PAUSE_MS] = [10_000, 10];

export const join: Question = {
  name: 'join',
  title: 'somebody joins a session of 120 × 30 that prints 1 MB/s, until the Keyframe is there',
  budgets: [
    { path: 'join to Keyframe p50', unit: 'ms', must: { atMost: 20 }, aim: { atMost: 5 }, of: figure('gateway', 'p50 ms') },
    { path: 'join to Keyframe p99', unit: 'ms', of: figure('gateway', 'p99 ms') },
  ],
  open,
};

async function open(): Promise<Arena> {
  const workshop = openWorkshop();
  const { printer } = compile(workshop.folder);
  const [gateway, load] = [await Gateway.start(), new LoadClient()];
  const line = await gateway.begin([printer, `${BURST_BYTES}`, `${PAUSE_MS * 1000}`, '0']);
  const typist = await starter(line);
  typist.key();
  return {
    contenders: [
      {
        name: 'gateway',
        async measure() {
          const times = await load.ask('join', { line: { ...line, join: { role: 'observer', replayFrom: null } }, times: JOINS });
          return { 'p50 ms': quantile(times, 0.5), 'p99 ms': quantile(times, 0.99) };
        },
      },
    ],
    async close() {
      typist.close();
      await Promise.all([gateway.close(), load.close()]);
      workshop.close();
    },
  };
}
