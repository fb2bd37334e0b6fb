// The client, for Node: the token rides in a header, and a refused upgrade is read for its reason. Knows no frame.
import type { IncomingMessage } from 'node:http';
import WebSocket from 'ws';
import type { ClientOptions, TerminalClient } from './client.js';
import { connectBy } from './index.js';
import { asSocket, type Dial, listen, refusal, type WebSocketLike, type Why } from './socket.js';

export * from './index.js';

/** Bytes of a refusal's body that are read. */
const MAX_REFUSAL_BYTES = 65_536;
/** How long the upgrade may take, in milliseconds. */
const UPGRADE_MS = 10_000;
/** How long the gateway may take to answer a close frame, in milliseconds. */
const CLOSING_MS = 1000;

/** Attaches to a session, as `connect` of the browser's entry does. */
export function connect(options: ClientOptions): TerminalClient {
  return connectBy(dial, options);
}

const dial: Dial = ({ url, subprotocol, token }, events) => {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const socket = new WebSocket(url, [subprotocol], { headers, handshakeTimeout: UPGRADE_MS, perMessageDeflate: false });
  let why: Why;
  listen(socket as WebSocketLike, events, async () => why);
  socket.on('error', (error: NodeJS.ErrnoException) => {
    why ??= `${new URL(url).host} cannot be reached (${error.message || error.code})`;
  });
  socket.on('unexpected-response', async (_request, response) => {
    why = refusal(response.statusCode ?? 0, await bodyOf(response), response.headers['retry-after']);
    socket.terminate();
  });
  const close = (code: number) => {
    socket.close(code);
    setTimeout(() => socket.terminate(), CLOSING_MS).unref();
  };
  const pause = (on: boolean) => (on ? socket.pause() : socket.resume());
  return { ...asSocket(socket as WebSocketLike, () => socket.terminate()), close, pause };
};

async function bodyOf(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of response) {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes >= MAX_REFUSAL_BYTES) break;
    }
  } catch {
    // A body that is cut says what it says up to there.
  }
  return Buffer.concat(pieces).toString();
}
