// A TCP proxy that can be cut, to take the network away from one client. Knows no protocol.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface CutProxy {
  readonly port: number;
  /** Breaks all connections and refuses new ones until `mend`. */
  cut(): void;
  /** Forwards nothing more until `mend`, and says so to nobody: connections stay open, new ones are taken. */
  freeze(): void;
  mend(): void;
  close(): Promise<void>;
}

/** Stands before `targetPort`, at a free port or the one that is given. */
export async function cutProxy(targetPort: number, port = 0): Promise<CutProxy> {
  const open = new Set<Socket>();
  const pairs = new Set<readonly [Socket, Socket]>();
  let whole = true;
  let frozen = false;
  const keep = (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    // A broken connection is what this proxy is for.
    socket.on('error', () => {});
  };
  const server = createServer((near) => {
    keep(near);
    if (!whole) return near.destroy();
    const far = connect(targetPort, '127.0.0.1');
    keep(far);
    const pair = [near, far] as const;
    pairs.add(pair);
    if (!frozen) thaw(pair);
    near.once('close', () => {
      pairs.delete(pair);
      far.destroy();
    });
    return far.once('close', () => near.destroy());
  });
  const breakAll = () => {
    for (const socket of open) socket.destroy();
  };
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      whole = false;
      breakAll();
    },
    freeze() {
      frozen = true;
      for (const [near, far] of pairs) {
        near.unpipe(far).pause();
        far.unpipe(near).pause();
      }
    },
    mend() {
      whole = true;
      if (frozen) for (const pair of pairs) thaw(pair);
      frozen = false;
    },
    async close() {
      breakAll();
      await new Promise((done) => server.close(done));
    },
  };
}

function thaw([near, far]: readonly [Socket, Socket]): void {
  near.pipe(far).pipe(near);
}
