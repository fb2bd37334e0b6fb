// Does a watcher that stops reading hold up the others? What the others are sent a second, with it and without it.
import { LoadClient } from '../load/load-client.js';
import { compile } from '../peers/c-programs.js';
import { Gateway } from '../peers/gateway.js';
import { before } from '../support/crowd.js';
import { type Arena, type Contender, figure, type Question, ratio } from '../support/question.js';
import { openWorkshop } from '../support/workshop.js';

const WATCHERS = 31;
/** What is printed: more than a stopped socket, its kernel and the gateway's tail hold together. */
const [BURST_BYTES, PAUSE_MS, BURSTS] = [64 * 1024, 10, 300];

const [ALL, ONE_STOPPED] = ['all read', 'one stopped'];

export const stopped: Question = {
  name: 'stopped',
  title: `a session prints ${(BURST_BYTES / 1e3 / PAUSE_MS).toFixed(1)} MB/s before ${WATCHERS} watchers that read and one more, that does not`,
  budgets: [
    {
      path: 'rate of the others, one stopped',
      unit: '× all read',
      must: { atLeast: 0.95 },
      aim: { atLeast: 0.99 },
      of: ratio('MB/s each', ONE_STOPPED, ALL),
    },
    { path: 'CPU with one stopped', unit: '× all read', of: ratio('CPU ms', ONE_STOPPED, ALL) },
    { path: 'watched by 32', unit: 'MB/s each', of: figure(ALL, 'MB/s each') },
  ],
  open,
};

async function open(): Promise<Arena> {
  const workshop = openWorkshop();
  const { printer } = compile(workshop.folder);
  const [gateway, load] = [await Gateway.start(), new LoadClient()];
  const argv = [printer, `${BURST_BYTES}`, `${PAUSE_MS * 1000}`, `${BURSTS}`];
  const contender = (name: string, still: number): Contender => ({
    name,
    async measure() {
      const heard = await before(gateway, load, argv, { watchers: WATCHERS + 1 - still, stopped: still });
      const each = heard.bytes / 1e6 / (WATCHERS + 1 - still);
      return { 'MB/s each': each / (heard.ms / 1000), 'CPU ms': heard.cpu, 'fell behind': heard.lags, 'client busy': heard.busy };
    },
  });
  return {
    contenders: [contender(ALL, 0), contender(ONE_STOPPED, 1)],
    async close() {
      await Promise.all([gateway.close(), load.close()]);
      workshop.close();
    },
  };
}
