// A TCP proxy that leads to one server or to another, and breaks connections when it is told to. Knows no protocol.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Junction {
  readonly port: number;
  /** From now on new connections lead to this port; undefined refuses them. Breaks those that there are. */
  lead(port: number | undefined): void;
  /** From now on each new connection breaks after as many bytes, in both directions together, as `next` says. */
  wear(next: (() => number) | undefined): void;
  close(): Promise<void>;
}

export async function junction(target: number): Promise<Junction> {
  const open = new Set<Socket>();
  let leadsTo: number | undefined = target;
  let wear: (() => number) | undefined;
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
    let left = wear?.() ?? Number.POSITIVE_INFINITY;
    const pass = (to: Socket) => (bytes: Buffer) => {
      to.write(bytes.subarray(0, left));
      left -= bytes.length;
      if (left > 0) return;
      // What was written goes out first: the break is at that byte.
      near.destroySoon();
      far.destroySoon();
    };
    near.on('data', pass(far));
    far.on('data', pass(near));
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
