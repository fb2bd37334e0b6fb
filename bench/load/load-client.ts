// A load client, seen from the bench: it is told a job and answers. Knows no socket.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Answer, JobName, Jobs } from './jobs.js';

const SCRIPT = fileURLToPath(new URL('./client.ts', import.meta.url));

export class LoadClient {
  readonly #process: ChildProcess;

  constructor() {
    this.#process = fork(SCRIPT, { execArgv: ['--import', 'tsx'] });
  }

  /** One job at a time. Rejects in the words of the client. */
  async ask<J extends JobName>(job: J, ask: Jobs[J]['ask']): Promise<Jobs[J]['answer']> {
    const answered = new AbortController();
    const { signal } = answered;
    const gone = once(this.#process, 'exit', { signal }).then(() => Promise.reject(new Error('the load client has ended')));
    const heard = once(this.#process, 'message', { signal });
    for (const either of [gone, heard]) either.catch(() => {});
    this.#process.send({ job, ...ask });
    const [answer] = (await Promise.race([heard, gone]).finally(() => answered.abort())) as [Answer];
    if ('failed' in answer) throw new Error(`load client, ${job}: ${answer.failed}`);
    return answer.value as Jobs[J]['answer'];
  }

  async close(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
  }
}
