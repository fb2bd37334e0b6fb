// The balancer of deploy/haproxy.cfg as a process, on a port of its own. Knows no gateway but by its port.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from './free-port.js';
import { until } from './redis.js';

/** What it said last and is kept, in characters. */
const SAID_CHARS = 2000;

export interface Balancer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Before two gateways; resolves when it serves. `idle`: how long a connection may be silent, as `60s`. */
export async function startBalancer([a, b]: ReadonlyArray<{ readonly port: number }>, idle = '60s'): Promise<Balancer> {
  const port = await freePort();
  const env = {
    PATH: process.env.PATH,
    LISTEN: `127.0.0.1:${port}`,
    GATEWAY_A: `127.0.0.1:${a?.port}`,
    GATEWAY_B: `127.0.0.1:${b?.port}`,
    IDLE_TIMEOUT: idle,
  };
  const haproxy = spawn('haproxy', ['-db', '-f', 'deploy/haproxy.cfg'], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  haproxy.stderr.on('data', (chunk) => {
    said = (said + chunk).slice(-SAID_CHARS);
  });
  await until('the balancer finds a gateway', () => {
    if (haproxy.exitCode !== null) throw new Error(`the balancer ended with ${haproxy.exitCode}; it said: ${said}`);
    return answers(port);
  });
  return { port, stop: () => end(haproxy) };
}

function answers(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ status }) => status === 200,
    () => false,
  );
}

async function end(haproxy: ChildProcess): Promise<void> {
  if (haproxy.exitCode !== null || haproxy.signalCode !== null) return;
  const gone = once(haproxy, 'exit');
  haproxy.kill('SIGKILL');
  await gone;
}
