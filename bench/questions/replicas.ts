// What does it cost that the log is in Redis, and the client at another replica than the terminal? Output and echo, beside ttyd.
import type { Line } from '../load/jobs.js';
import { LoadClient } from '../load/load-client.js';
import { echoing, printing } from '../peers/programs.js';
import { TTYD_MISSING, Ttyd, ttydPath } from '../peers/ttyd.js';
import { Pair } from '../support/cluster.js';
import { cpuMs } from '../support/cpu.js';
import { type Arena, type Contender, type Figures, figure, type Question, ratio } from '../support/question.js';
import { openWorkshop } from '../support/workshop.js';
import { echoes } from './echo.js';

/** Bytes that are printed. */
const BYTES = 40e6;
const MB = BYTES / 1e6;

const [OWNER, OTHER] = ['at the owner', 'at another replica'];

export const replicas: Question = {
  name: 'replicas',
  title: `a key is echoed and \`cat\` prints ${MB} MB, Redis log, two replicas`,
  budgets: [
    { path: `bulk ${OTHER}`, unit: '× ttyd', must: { atLeast: 0.5 }, aim: { atLeast: 1 }, of: ratio('MB/s', OTHER, 'ttyd') },
    { path: `bulk ${OWNER}, Redis`, unit: '× ttyd', of: ratio('MB/s', OWNER, 'ttyd') },
    { path: `echo p50 ${OTHER}`, unit: 'ms', must: { atMost: 2 }, aim: { atMost: 1 }, of: figure(OTHER, 'p50 ms') },
    { path: `echo p50 ${OWNER}, Redis`, unit: 'ms', of: figure(OWNER, 'p50 ms') },
    { path: `bulk ${OTHER}, CPU of both per MB`, unit: 'ms', of: figure(OTHER, 'CPU ms/MB') },
  ],
  open,
};

async function open(): Promise<Arena> {
  const workshop = openWorkshop();
  const argv = printing(workshop.file(BYTES));
  const [pair, load] = [await Pair.start(), new LoadClient()];
  const path = ttydPath();
  const ttyd = path === undefined ? undefined : await Ttyd.start(path);
  const cpu = () => cpuMs(pair.owner.pid) + cpuMs(pair.other.pid);
  const own = (name: string, seen: (line: Line) => Line): Contender => ({
    name,
    async measure() {
      const line = await pair.owner.begin(echoing);
      const figures = await echoes(load, seen(line));
      await pair.owner.end(line);
      return { ...figures, ...(await drained(load, seen(await pair.owner.begin(argv)), cpu)) };
    },
  });
  const peers: Contender[] = ttyd ? [{ name: 'ttyd', measure: () => drained(load, ttyd.line(argv), () => cpuMs(ttyd.pid)) }] : [];
  return {
    contenders: [...peers, own(OWNER, (line) => line), own(OTHER, (line) => pair.elsewhere(line))],
    missing: ttyd ? [] : [TTYD_MISSING],
    async close() {
      await Promise.all([pair.close(), load.close(), ttyd?.close()]);
      workshop.close();
    },
  };
}

/** A client that was too slow is given a Keyframe instead of what it has missed, and told so. */
async function drained(load: LoadClient, line: Line, cpu: () => number): Promise<Figures> {
  const before = cpu();
  const { bytes, ms, lags, busy } = await load.ask('drain', { line });
  return { 'MB/s': bytes / 1000 / ms, 'CPU ms/MB': ((cpu() - before) / bytes) * 1e6, 'fell behind': lags, 'client busy': busy };
}
