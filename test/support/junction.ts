// A TCP proxy that leads to one server or to another, and breaks connections when it is told to. Knows no protocol.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * How a connection comes to its end: `after` so many bytes, in both directions together, no answer comes back any more; what is said is
 * still heard for `deaf` bytes, and at most `DEAF_MS`.
 */
export interface Wear {
  readonly after: number;
  readonly deaf: number;
}

const DEAF_MS = 20;
/** It does not. */
export const endless: Wear = { after: Number.POSITIVE_INFINITY, deaf: 0 };

export interface Junction {
  readonly port: number;
  /** From now on new connections lead to this port; undefined refuses them. Breaks those that there are. */
  lead(port: number | undefined): void;
  /** From now on each new connection breaks as `next` says. */
  wear(next: (() => Wear) | undefined): void;
  close(): Promise<void>;
}

export async function junction(target: number): Promise<Junction> {
  const open = new Set<Socket>();
  let leadsTo: number | undefined = target;
  let wear: (() => Wear) | undefined;
  const keep = (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    // A broken connection is what this is for.
    socket.on('error', () => {});
    return socket;
  };
  const server = createServer((near) => {
    keep(near);
    if (leadsTo === undefined) {
      near.destroy();
      return;
    }
    const far = keep(connect(leadsTo, '127.0.0.1'));
    let { after, deaf } = wear?.() ?? endless;
    const end = () => {
      near.destroy();
      // What was heard is heard: the break is at that byte.
      far.destroySoon();
    };
    const pass = (bytes: number) => {
      const wasWhole = after > 0;
      after = Math.max(0, after - bytes);
      if (wasWhole && after === 0) setTimeout(end, DEAF_MS);
    };
    near.on('data', (bytes: Buffer) => {
      const heard = bytes.subarray(0, after + deaf);
      far.write(heard);
      deaf -= Math.max(0, heard.length - after);
      pass(heard.length);
      if (after === 0 && deaf === 0) end();
    });
    far.on('data', (bytes: Buffer) => {
      if (after > 0) near.write(bytes.subarray(0, after));
      pass(bytes.length);
    });
    near.once('close', () => far.destroySoon());
    far.once('close', () => near.destroySoon());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const breakAll = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    lead(port) {
      leadsTo = port;
      breakAll();
    },
    wear(next) {
      wear = next;
    },
    async close() {
      leadsTo = undefined;
      breakAll();
      await new Promise((done) => server.close(done));
    },
  };
}
