// Starts a replica in a process of its own and reads what it says. Knows not what that means.
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { until } from './replica.js';

export class Child {
  readonly lines: string[] = [];
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;

  private constructor(url: string, id: string, leaseSeconds: number) {
    const script = fileURLToPath(new URL('./process.ts', import.meta.url));
    this.#process = spawn(process.execPath, ['--import', 'tsx', script, url, id, String(leaseSeconds)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    createInterface(this.#process.stdout).on('line', (line) => this.lines.push(line));
  }

  /** Resolves when it has its lease. */
  static async start(url: string, id: string, leaseSeconds = 2): Promise<Child> {
    const child = new Child(url, id, leaseSeconds);
    await child.says('open');
    return child;
  }

  async says(line: string): Promise<void> {
    await until(() => this.lines.includes(line) || this.#process.exitCode !== null);
    if (!this.lines.includes(line)) throw new Error(`it ended without saying ${JSON.stringify(line)}`);
  }

  ask(): void {
    this.#process.stdin.write('\n');
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process.kill(signal);
  }

  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await ended;
  }
}
