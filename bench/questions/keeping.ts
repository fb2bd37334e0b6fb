// What do redaction and encryption cost? Output to one client, with each of them off and on; by default redaction is on and encryption off.
import { randomBytes } from 'node:crypto';
import { LoadClient } from '../load/load-client.js';
import { Gateway } from '../peers/gateway.js';
import { printing } from '../peers/programs.js';
import { withCpu } from '../support/cpu.js';
import { type Arena, figure, type Question, ratio } from '../support/question.js';
import { openWorkshop } from '../support/workshop.js';

/** Bytes that are printed. */
const BYTES = 40e6;

const [DEFAULT, RAW, SEALED] = ['by default', 'without redaction', 'encrypted'];
const [RATE, CPU] = ['MB/s', 'CPU ms/MB'];

export const keeping: Question = {
  name: 'keeping',
  title: `one client is sent what \`cat\` prints (${BYTES / 1e6} MB), embedded log, with and without redaction and encryption`,
  budgets: [
    { path: 'bulk without redaction', unit: '× default', of: ratio(RATE, RAW, DEFAULT) },
    { path: 'bulk encrypted at rest', unit: '× default', of: ratio(RATE, SEALED, DEFAULT) },
    { path: 'CPU without redaction', unit: '× default', of: ratio(CPU, RAW, DEFAULT) },
    { path: 'CPU encrypted at rest', unit: '× default', of: ratio(CPU, SEALED, DEFAULT) },
    { path: 'bulk by default', unit: RATE, of: figure(DEFAULT, RATE) },
  ],
  open,
};

async function open(): Promise<Arena> {
  const workshop = openWorkshop();
  const argv = printing(workshop.file(BYTES));
  const REPLAY_ENCRYPTION_KEYS = `bench:${randomBytes(32).toString('base64')}`;
  const [plain, sealed, load] = [await Gateway.start(), await Gateway.start({ REPLAY_ENCRYPTION_KEYS }), new LoadClient()];
  const through = (name: string, gateway: Gateway, settings: object = {}) => ({
    name,
    async measure() {
      const line = await gateway.begin(argv, 'pty-ws.v1.binary', settings);
      const { value, cpu } = await withCpu(gateway.pid, () => load.ask('drain', { line }));
      return { [RATE]: value.bytes / 1000 / value.ms, [CPU]: (cpu / value.bytes) * 1e6, 'client busy': value.busy };
    },
  });
  return {
    contenders: [through(DEFAULT, plain), through(RAW, plain, { redaction: 'off' }), through(SEALED, sealed)],
    async close() {
      await Promise.all([plain.close(), sealed.close(), load.close()]);
      workshop.close();
    },
  };
}
