// How long until a gateway takes work? From its being started to its being ready, beside a Node that does nothing.
import { execFileSync } from 'node:child_process';
import { Gateway } from '../peers/gateway.js';
import { cpuMs } from '../support/cpu.js';
import { ownKib } from '../support/memory.js';
import { type Arena, figure, type Question, ratio } from '../support/question.js';

const [OWN, NODE] = ['gateway', 'node'];

export const start: Question = {
  name: 'start',
  title: 'a gateway is started, embedded log, until it is ready',
  budgets: [
    { path: 'start to ready', unit: 'ms', of: figure(OWN, 'ms') },
    { path: 'start to ready, CPU', unit: 'ms', of: figure(OWN, 'CPU ms') },
    { path: 'start to ready', unit: '× node', of: ratio('ms', OWN, NODE) },
    { path: 'memory without a session', unit: 'MiB', of: figure(OWN, 'MiB') },
  ],
  open: async (): Promise<Arena> => ({
    contenders: [
      { name: NODE, measure: async () => ({ ms: timeOf(() => execFileSync(process.execPath, ['-e', '0'])) }) },
      { name: OWN, measure: measureOwn },
    ],
    close: async () => {},
  }),
};

async function measureOwn() {
  const begun = performance.now();
  const gateway = await Gateway.start();
  const figures = { ms: performance.now() - begun, 'CPU ms': cpuMs(gateway.pid), MiB: ownKib(gateway.pid) / 1024 };
  await gateway.close();
  return figures;
}

function timeOf(work: () => void): number {
  const begun = performance.now();
  work();
  return performance.now() - begun;
}
