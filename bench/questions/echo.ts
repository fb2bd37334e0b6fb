// How long until a key that was typed is seen? Milliseconds, each key typed when the one before it was echoed by `cat`.
import type { Line } from '../load/jobs.js';
import { LoadClient } from '../load/load-client.js';
import { Gateway } from '../peers/gateway.js';
import { echoing } from '../peers/programs.js';
import { TTYD_MISSING, Ttyd, ttydPath } from '../peers/ttyd.js';
import { quantile } from '../support/figures.js';
import { type Arena, type Contender, type Figures, figure, type Question, ratio } from '../support/question.js';

/** Keys that are typed in one round, after others that warm up: a server that compiles its own code while it runs has done so after some thousands. */
const KEYS = 2000;
const WARM_UP_KEYS = 5000;

export const echo: Question = {
  name: 'echo',
  title: 'a key is typed and echoed, embedded log',
  budgets: [
    { path: 'echo p50', unit: '× ttyd', must: { atMost: 2.5 }, aim: { atMost: 1.5 }, of: ratio('p50 ms', 'gateway, binary', 'ttyd') },
    { path: 'echo p50, JSON', unit: '× ttyd', of: ratio('p50 ms', 'gateway, JSON', 'ttyd') },
    { path: 'echo p50', unit: 'ms', of: figure('gateway, binary', 'p50 ms') },
    { path: 'echo p99', unit: 'ms', of: figure('gateway, binary', 'p99 ms') },
    { path: 'echo p50, ttyd', unit: 'ms', of: figure('ttyd', 'p50 ms') },
  ],
  open,
};

async function open(): Promise<Arena> {
  const [gateway, load] = [await Gateway.start(), new LoadClient()];
  const path = ttydPath();
  const ttyd = path === undefined ? undefined : await Ttyd.start(path);
  const through = (name: string, dialect: Line['dialect']): Contender => ({
    name,
    async measure() {
      const line = await gateway.begin(echoing, dialect);
      const figures = await echoes(load, line);
      await gateway.end(line);
      return figures;
    },
  });
  const peers = ttyd ? [{ name: 'ttyd', measure: () => echoes(load, ttyd.line(echoing)) }] : [];
  return {
    contenders: [...peers, through('gateway, binary', 'pty-ws.v1.binary'), through('gateway, JSON', 'pty-ws.v1')],
    missing: ttyd ? [] : [TTYD_MISSING],
    async close() {
      await Promise.all([gateway.close(), load.close(), ttyd?.close()]);
    },
  };
}

/** How long keys take at the end of this line. */
export async function echoes(load: LoadClient, line: Line): Promise<Figures> {
  const times = (await load.ask('echo', { line, keys: WARM_UP_KEYS + KEYS })).slice(WARM_UP_KEYS);
  return { 'p50 ms': quantile(times, 0.5), 'p99 ms': quantile(times, 0.99) };
}
