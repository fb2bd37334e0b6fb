// A TCP proxy that can be cut, to take the network away from one client. Knows no protocol.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface CutProxy {
  readonly port: number;
  /** Breaks all connections and refuses new ones until `mend`. */
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

export async function cutProxy(targetPort: number): Promise<CutProxy> {
  const open = new Set<Socket>();
  let whole = true;
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
    near.pipe(far).pipe(near);
    near.once('close', () => far.destroy());
    return far.once('close', () => near.destroy());
  });
  const breakAll = () => {
    for (const socket of open) socket.destroy();
  };
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    port: (server.address() as AddressInfo).port,
    cut() {
      whole = false;
      breakAll();
    },
    mend() {
      whole = true;
    },
    async close() {
      breakAll();
      await new Promise((done) => server.close(done));
    },
  };
}
