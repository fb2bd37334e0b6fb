// Somebody who is told of tasks: a real HTTP or HTTPS server that remembers what it got. Knows no gateway.
import { once } from 'node:events';
import http, { type IncomingHttpHeaders, type RequestListener } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';

interface Got {
  readonly headers: IncomingHttpHeaders;
  readonly path: string;
  readonly text: string;
}

/** What it answers: a status, with headers if it likes; or nothing, and the connection is cut. */
type Reply = number | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string } | 'cut' | 'silence';

export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** What it said 2xx to, in the order of its coming. */
  readonly taken: Got[];
  /** All that came. */
  readonly got: Got[];
  /** Bodies that it said 2xx to, as JSON. */
  events(): Array<Record<string, Record<string, unknown>>>;
  /** Waits until it holds; a test's own time limit bounds it. */
  until(holds: () => boolean): Promise<void>;
  close(): Promise<void>;
}

export interface ReceiverOptions {
  /** Of the n-th request, from 0; 204 if absent. */
  readonly reply?: (n: number, got: Got) => Reply | Promise<Reply>;
  readonly tls?: { readonly key: string; readonly cert: string };
  readonly port?: number;
}

export async function openReceiver({ reply = () => 204, tls, port = 0 }: ReceiverOptions = {}): Promise<Receiver> {
  const got: Got[] = [];
  const taken: Got[] = [];
  let wakes: Array<() => void> = [];
  const listener: RequestListener = async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const one = { headers: request.headers, path: request.url ?? '', text };
    const answer = await reply(got.push(one) - 1, one);
    const status = typeof answer === 'object' ? answer.status : answer;
    if (status === 'cut') request.socket.destroy();
    else if (status !== 'silence') {
      response.writeHead(status, typeof answer === 'object' ? answer.headers : undefined);
      response.end(typeof answer === 'object' ? answer.body : undefined);
      if (status >= 200 && status < 300) taken.push(one);
    }
    for (const wake of wakes.splice(0)) wake();
  };
  const server = tls ? https.createServer(tls, listener) : http.createServer(listener);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `${tls ? 'https' : 'http'}://localhost:${bound}/hook`,
    port: bound,
    taken,
    got,
    events: () => taken.map(({ text }) => JSON.parse(text)),
    async until(holds) {
      while (!holds()) await new Promise<void>((resolve) => wakes.push(resolve));
    },
    async close() {
      wakes = [];
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
