// A message that is made once for all sockets, against what a WebSocket makes of it.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { binaryMessage, textMessage, type WireMessage } from '../../src/attach/wire-message.js';
import { freePort } from '../support/free-port.js';

/** What a server of the library puts on the wire for this. */
async function fromLibrary(payload: Uint8Array, binary: boolean): Promise<Buffer> {
  const port = await freePort();
  const server = new WebSocketServer({ host: '127.0.0.1', port, perMessageDeflate: false });
  await once(server, 'listening');
  server.on('connection', (ws) => {
    ws.send(payload, { binary });
    ws.terminate();
  });
  const socket: Socket = connect(port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n');
  socket.write('Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n');
  const all = Buffer.concat(await socket.toArray());
  server.close();
  return all.subarray(all.indexOf('\r\n\r\n') + 4);
}

const wire = (message: WireMessage): Buffer => Buffer.concat(message);
const LENGTHS = [0, 1, 112, 113, 125, 126, 127, 4096, 4097, 65_522, 65_523, 65_535, 65_536, 200_000];

it.each(LENGTHS)('is what a WebSocket sends for a payload of %i bytes', async (length) => {
  const body = Buffer.alloc(length, 'b');
  const start = Buffer.from('start of 13 b');
  expect(wire(textMessage(body)).equals(await fromLibrary(body, false))).toBe(true);
  expect(wire(binaryMessage(start, body)).equals(await fromLibrary(Buffer.concat([start, body]), true))).toBe(true);
});

it('is one piece where it is small, and does not copy the body where it is large', () => {
  expect(textMessage(Buffer.alloc(4096))).toHaveLength(1);
  expect(binaryMessage(new Uint8Array(13), Buffer.alloc(4096))).toHaveLength(1);
  const body = Buffer.alloc(70_000);
  expect(binaryMessage(new Uint8Array(13), body).at(-1)).toBe(body);
});
