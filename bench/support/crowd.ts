// A session that many watch from its first byte, and what they are sent until it ends. Knows no question.
import { Connection } from '../load/connection.js';
import { forEach, type Heard, type Line, watching } from '../load/jobs.js';
import type { LoadClient } from '../load/load-client.js';
import type { Gateway } from '../peers/gateway.js';
import { withCpu } from './cpu.js';

/** Milliseconds until a program must have said that it is there. */
const READY_MS = 20_000;

export interface Crowd {
  readonly watchers: number;
  /** How many more read nothing. */
  readonly stopped?: number;
}

/** Runs a program that waits for a key, before so many watchers; what those were sent who read, and the milliseconds of CPU that the gateway used. */
export async function before(gateway: Gateway, load: LoadClient, argv: readonly string[], crowd: Crowd): Promise<Heard & { cpu: number }> {
  const { watchers, stopped = 0 } = crowd;
  const line = await gateway.begin(argv);
  const typist = await starter(line);
  await load.ask('watch', { lines: forEach(watchers + stopped, watching(line)), stopped });
  const { value, cpu } = await withCpu(gateway.pid, () => {
    const heard = load.ask('watched', {});
    typist.key();
    typist.leave();
    return heard;
  });
  await load.ask('unwatch', {});
  return { ...value, cpu };
}

/** The first member, which may type; its program is there. */
export async function starter(line: Line): Promise<Connection> {
  const typist = await Connection.open(line);
  const signal = AbortSignal.timeout(READY_MS);
  await new Promise<void>((resolve, reject) => {
    typist.heard = resolve;
    signal.addEventListener('abort', () => reject(new Error(`the program has said nothing within ${READY_MS} ms`)));
    typist.join();
  });
  return typist;
}
