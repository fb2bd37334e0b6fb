// A WebSocket server that does nothing but send the same message, in a process of its own: what a socket costs at least. Knows no gateway.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as later } from 'node:timers/promises';
import { type WebSocket, WebSocketServer } from 'ws';
import type { BareOrder } from './bare.js';

/** Bytes that may wait for one socket. */
const HIGH_WATER_BYTES = 1024 * 1024;
/** Milliseconds between two looks whether a socket has room. */
const LOOK_MS = 1;

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
await once(server, 'listening');
process.send?.((server.address() as AddressInfo).port);

process.on('message', async ({ messages, bytes, pauseMs }: BareOrder) => {
  const message = Buffer.alloc(bytes, 'x');
  const begun = performance.now();
  for (let sent = 0; sent < messages; sent++) {
    for (const client of server.clients) {
      if (client.bufferedAmount > HIGH_WATER_BYTES) await room(client);
      client.send(message);
    }
    // As a program that prints: at its times, however long the sending took.
    if (pauseMs > 0) await later(Math.max(0, begun + (sent + 1) * pauseMs - performance.now()));
  }
  for (const client of server.clients) client.close();
});

async function room(client: WebSocket): Promise<void> {
  while (client.bufferedAmount > HIGH_WATER_BYTES) await later(LOOK_MS);
}
