// A bare WebSocket server, seen from the bench. Knows no gateway.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Line } from '../load/jobs.js';

const SCRIPT = fileURLToPath(new URL('./bare-server.ts', import.meta.url));

/** What it sends to all who are connected, before it lets them go. */
export interface BareOrder {
  readonly messages: number;
  /** Of one message. */
  readonly bytes: number;
  /** Milliseconds from one message to the next; 0 is as fast as the sockets take them. */
  readonly pauseMs: number;
}

export class BareServer {
  readonly line: Line;
  readonly #process: ChildProcess;

  private constructor(child: ChildProcess, port: number) {
    this.#process = child;
    this.line = { dialect: 'bare', url: `ws://127.0.0.1:${port}` };
  }

  static async start(): Promise<BareServer> {
    const child = fork(SCRIPT, { execArgv: ['--import', 'tsx'] });
    const [port] = await once(child, 'message');
    return new BareServer(child, port as number);
  }

  get pid(): number {
    return this.#process.pid as number;
  }

  send(order: BareOrder): void {
    this.#process.send(order);
  }

  async close(): Promise<void> {
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
  }
}
