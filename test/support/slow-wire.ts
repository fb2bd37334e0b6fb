// A TCP proxy through which all that is said comes late, as from far away, and in order. Knows no protocol.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Transform } from 'node:stream';

/** How late, each way, in milliseconds: `ms`, and up to `jitterMs` more. */
export interface Lag {
  readonly ms: number;
  readonly jitterMs: number;
}

export interface SlowWire {
  readonly port: number;
  close(): Promise<void>;
}

export async function slowWire(targetPort: number, lag: Lag): Promise<SlowWire> {
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(targetPort, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      // Who breaks off breaks off: the other end is told at once.
      from.on('error', () => {});
      from.once('close', () => {
        open.delete(from);
        to.destroy();
      });
      from.pipe(late(lag)).pipe(to);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Nothing overtakes anything: what is due earlier than what was said before it waits for that. */
function late({ ms, jitterMs }: Lag): Transform {
  const waiting: Buffer[] = [];
  let due = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      waiting.push(chunk);
      due = Math.max(due, performance.now() + ms + Math.random() * jitterMs);
      setTimeout(() => this.push(waiting.shift()), due - performance.now());
      done();
    },
    flush(done) {
      setTimeout(done, Math.max(0, due - performance.now()) + 1);
    },
  });
}
