// How fast does much output reach one client? The file that `cat` prints, in MB/s, from the key that starts it to the end of the connection.
import { execFileSync } from 'node:child_process';
import { onPath } from '../../test/support/needs.js';
import type { Line } from '../load/jobs.js';
import { LoadClient } from '../load/load-client.js';
import { compile } from '../peers/c-programs.js';
import { Gateway } from '../peers/gateway.js';
import { printing } from '../peers/programs.js';
import { secondsInTmux } from '../peers/tmux.js';
import { TTYD_MISSING, Ttyd, ttydPath } from '../peers/ttyd.js';
import { withCpu } from '../support/cpu.js';
import { type Arena, type Contender, type Figures, figure, type Question, ratio } from '../support/question.js';
import { openWorkshop } from '../support/workshop.js';

/** Bytes that are printed. */
const BYTES = 200e6;
/** Times that each server prints them before it is measured: one that compiles its own code while it runs has done so after some thousand frames. */
const WARM_UPS = 2;
const MB = BYTES / 1e6;

export const bulk: Question = {
  name: 'bulk',
  title: `one client is sent what \`cat\` prints (${MB} MB), embedded log`,
  budgets: [
    { path: 'bulk, binary', unit: '× ttyd', must: { atLeast: 1 }, of: ratio('MB/s', 'gateway, binary', 'ttyd') },
    { path: 'bulk, binary', unit: '× C reader', aim: { atLeast: 0.8 }, of: ratio('MB/s', 'gateway, binary', 'C reader') },
    { path: 'bulk, JSON', unit: '× ttyd', must: { atLeast: 0.8 }, aim: { atLeast: 1.2 }, of: ratio('MB/s', 'gateway, JSON', 'ttyd') },
    { path: 'bulk, binary', unit: '× tmux', of: ratio('MB/s', 'gateway, binary', 'tmux') },
    { path: 'bulk, binary, CPU per MB', unit: 'ms', of: figure('gateway, binary', 'CPU ms/MB') },
    { path: 'bulk, JSON, CPU per MB', unit: 'ms', of: figure('gateway, JSON', 'CPU ms/MB') },
    { path: 'bulk, ttyd, CPU per MB', unit: 'ms', of: figure('ttyd', 'CPU ms/MB') },
  ],
  open,
};

async function open(): Promise<Arena> {
  const workshop = openWorkshop();
  const argv = printing(workshop.file(BYTES));
  const { reader } = compile(workshop.folder);
  const [gateway, load] = [await Gateway.start(), new LoadClient()];
  const path = ttydPath();
  const ttyd = path === undefined ? undefined : await Ttyd.start(path);
  const through = (name: string, dialect: Line['dialect']): Contender => ({
    name,
    measure: async () => drainAll(load, gateway.pid, await gateway.begin(argv, dialect)),
  });
  const servers = [through('gateway, binary', 'pty-ws.v1.binary'), through('gateway, JSON', 'pty-ws.v1')];
  if (ttyd) servers.unshift({ name: 'ttyd', measure: () => drain(load, ttyd.pid, ttyd.line(argv)) });
  for (let i = 0; i < WARM_UPS; i++) for (const server of servers) await server.measure();
  const programs: Contender[] = [{ name: 'C reader', measure: async () => readInC(reader, argv) }];
  if (onPath('tmux'))
    programs.push({ name: 'tmux', measure: async () => ({ 'MB/s': MB / secondsInTmux(workshop.folder, workshop.file(BYTES)) }) });
  return {
    contenders: [...programs, ...servers],
    missing: [...(ttyd ? [] : [TTYD_MISSING]), ...(onPath('tmux') ? [] : ['tmux is not on the PATH'])],
    async close() {
      await Promise.all([gateway.close(), load.close(), ttyd?.close()]);
      workshop.close();
    },
  };
}

function readInC(reader: string, argv: readonly string[]): Figures {
  const [bytes, seconds] = execFileSync(reader, argv, { encoding: 'utf8' }).split(' ').map(Number);
  return { 'MB/s': (bytes as number) / 1e6 / (seconds as number) };
}

async function drain(load: LoadClient, pid: number, line: Line): Promise<Figures> {
  const { value, cpu } = await withCpu(pid, () => load.ask('drain', { line }));
  const mb = value.bytes / 1e6;
  return { 'MB/s': mb / (value.ms / 1000), 'CPU ms/MB': cpu / mb, 'lost bytes': BYTES - value.bytes, 'client busy': value.busy };
}

/** Only the peers may lose something. */
async function drainAll(load: LoadClient, pid: number, line: Line): Promise<Figures> {
  const figures = await drain(load, pid, line);
  if (figures['lost bytes'] !== 0) throw new Error(`the gateway's client was sent ${figures['lost bytes']} bytes less than ${BYTES}`);
  return figures;
}
