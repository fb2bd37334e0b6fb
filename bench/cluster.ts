// What several replicas cost a client: the echo of a key, and much output, with the embedded log, and with the Redis log at the replica that runs the
// terminal and at another one; beside a bare `cat` through node-pty. Run after a build: npx tsx bench/cluster.ts [--mb 60] [--keys 1000] [--rounds 3]
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { spawn } from 'node-pty';
import { connect, type TerminalClient } from '../src/client/node.js';
import { type Gateways, type Replica, startGateways, tokenFor } from '../test/support/gateways.js';
import { printTable, quantile } from './support/figures.js';

/** Types to a program, and is told what it prints. */
interface Line {
  type(bytes: string): void;
  heard: (bytes: number) => void;
  readonly over: Promise<void>;
  /** How often output was passed over because this end was too slow. */
  readonly lags: number;
  end(): void;
}

type OpenLine = (argv: readonly string[]) => Promise<Line>;

/** Both begin by telling that they are there; the second then waits for a key. */
const ECHO = ['/bin/bash', '-c', 'stty raw -echo; printf .; exec cat'];
const printing = (file: string) => ['/bin/bash', '-c', `stty raw -echo; printf .; head -c 1 > /dev/null; exec cat ${file}`];

async function bare([file = '', ...args]: readonly string[]): Promise<Line> {
  const pty = spawn(file, args, { cols: 120, rows: 30, encoding: null });
  const over = new Promise<void>((done) => pty.onExit(() => done()));
  const line: Line = { type: (bytes) => pty.write(bytes), heard: () => {}, over, lags: 0, end: () => pty.kill() };
  pty.onData((bytes) => line.heard((bytes as unknown as Buffer).length));
  return line;
}

/** Of a session that `owner` runs, through `near`. */
const through =
  (gateways: Gateways, owner: Replica, near: Replica): OpenLine =>
  async (argv) => {
    const id = await gateways.begin(owner, ...argv);
    const client = connect({ url: gateways.urlOf(id, near), token: tokenFor('typist', 'pty:control'), role: 'controller', replayFrom: 0 });
    return lineOf(client);
  };

function lineOf(client: TerminalClient): Line {
  let lags = 0;
  client.on('notice', () => void lags++);
  const line: Line = {
    type: (bytes) => void client.input(bytes),
    heard: () => {},
    over: client.ended.then(() => {}),
    get lags() {
      return lags;
    },
    end: () => client.close(),
  };
  client.on('output', (bytes) => line.heard(bytes.length));
  return line;
}

/** Resolves with the milliseconds until something is printed. */
function untilHeard(line: Line, doing: () => void): Promise<number> {
  return new Promise((done) => {
    const begun = performance.now();
    line.heard = () => done(performance.now() - begun);
    doing();
  });
}

async function echoes(open: OpenLine, keys: number): Promise<number[]> {
  const line = await open(ECHO);
  await untilHeard(line, () => {});
  const times: number[] = [];
  for (let key = 0; key < keys; key++) times.push(await untilHeard(line, () => line.type('x')));
  line.end();
  return times;
}

/** MB/s of what is heard until the program has ended. */
async function bulk(open: OpenLine, file: string): Promise<{ readonly rate: number; readonly lags: number }> {
  const line = await open(printing(file));
  await untilHeard(line, () => {});
  const begun = performance.now();
  let bytes = 0;
  line.heard = (more) => {
    bytes += more;
  };
  line.type('\n');
  await line.over;
  return { rate: bytes / 1000 / (performance.now() - begun), lags: line.lags };
}

interface Measured {
  readonly name: string;
  readonly open: OpenLine;
  readonly echoes: number[];
  readonly rates: number[];
  lags: number;
}

async function measure(all: readonly Measured[], file: string, { keys, rounds }: Record<'keys' | 'rounds', number>): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (const one of all) {
      one.echoes.push(...(await echoes(one.open, keys)));
      const { rate, lags } = await bulk(one.open, file);
      one.rates.push(rate);
      one.lags += lags;
    }
  }
}

function report(all: readonly Measured[]): void {
  const p50 = ({ echoes }: Measured) => quantile(echoes, 0.5);
  const rate = ({ rates }: Measured) => quantile(rates, 0.5);
  const embedded = all[1] as Measured;
  const rows = all.map((one) => [
    one.name,
    p50(one).toFixed(2),
    quantile(one.echoes, 0.99).toFixed(2),
    (p50(one) / p50(embedded)).toFixed(2),
    rate(one).toFixed(1),
    (rate(one) / rate(embedded)).toFixed(2),
    one.lags,
  ]);
  printTable(['client', 'echo p50, ms', 'p99, ms', 'p50 × embedded', 'bulk, MB/s', '× embedded', 'times too slow'], rows);
}

async function main(): Promise<void> {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: { mb: { ...text, default: '60' }, keys: { ...text, default: '1000' }, rounds: { ...text, default: '3' } },
  });
  const sizes = { mb: Number(values.mb), keys: Number(values.keys), rounds: Number(values.rounds) };
  const folder = await mkdtemp(join(tmpdir(), 'bench-cluster-'));
  const file = join(folder, 'text');
  await writeFile(file, `${'x'.repeat(99)}\n`.repeat(sizes.mb * 10_000));
  const pty = { replay_buffer_retention_seconds: 1 };
  const [alone, replicas] = await Promise.all([startGateways({ count: 1, pty, env: { REDIS_URL: '' } }), startGateways({ count: 2, pty })]);
  await replicas.redis.tell('CONFIG', 'SET', 'appendfsync', 'everysec');
  const opened: Array<[string, OpenLine]> = [
    ['bare `cat` through node-pty', bare],
    ['embedded log', through(alone, alone.at(0), alone.at(0))],
    ['Redis log, at the owner', through(replicas, replicas.at(0), replicas.at(0))],
    ['Redis log, at another replica', through(replicas, replicas.at(0), replicas.at(1))],
  ];
  const all = opened.map(([name, open]): Measured => ({ name, open, echoes: [], rates: [], lags: 0 }));
  try {
    await measure(all, file, sizes);
    report(all);
  } finally {
    await Promise.all([alone.dispose(), replicas.dispose()]);
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
process.exit(0);
