// ttyd, where it is: a server of terminals in C, which each gateway is measured beside. Knows no question.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { freePort } from '../../test/support/free-port.js';
import { onPath } from '../../test/support/needs.js';
import { until } from '../../test/support/redis.js';
import type { Line } from '../load/jobs.js';

/** Its path: what TTYD says, or one on the PATH. */
export const ttydPath = (): string | undefined => process.env.TTYD ?? onPath('ttyd');

export const TTYD_MISSING = 'ttyd is missing: name its path in TTYD (bench/README.md says how to build it)';

export const ttydVersion = (): string => {
  const path = ttydPath();
  return path === undefined
    ? 'no ttyd'
    : execFileSync(path, ['--version'], { encoding: 'utf8' })
        .trim()
        .replace(/ version /, ' ');
};

export class Ttyd {
  readonly #process: ChildProcess;
  readonly #port: number;

  private constructor(child: ChildProcess, port: number) {
    this.#process = child;
    this.#port = port;
  }

  /** Resolves when it listens. */
  static async start(path: string): Promise<Ttyd> {
    const port = await freePort();
    const options = ['--writable', '--url-arg', '--interface', '127.0.0.1', '--port', `${port}`];
    const child = spawn(path, [...options, 'env'], { stdio: 'ignore' });
    await until('ttyd listens', () => answers(port));
    return new Ttyd(child, port);
  }

  /** Each connection runs it anew. */
  line(argv: readonly string[]): Line {
    const query = argv.map((arg) => `arg=${encodeURIComponent(arg)}`).join('&');
    return { dialect: 'ttyd', url: `ws://127.0.0.1:${this.#port}/ws?${query}` };
  }

  get pid(): number {
    return this.#process.pid as number;
  }

  async close(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
