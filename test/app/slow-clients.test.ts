// Clients that are slow on purpose, or say too much: raw sockets against a real gateway. None of them keeps anything for long, and others are served meanwhile.
import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, startGateway } from '../routes/gateway.js';

let gateway: Gateway;
let server: Server;
beforeAll(async () => {
  gateway = await startGateway();
  server = gateway.app.server as Server;
});
afterAll(() => gateway.close());

interface Raw {
  readonly socket: Socket;
  readonly closed: Promise<unknown>;
  said: string;
}

function open(text: string): Raw {
  const socket = connect(Number(new URL(gateway.base).port), '127.0.0.1');
  const raw: Raw = { socket, closed: once(socket, 'close'), said: '' };
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    raw.said += chunk;
  });
  socket.write(text);
  return raw;
}

/** A piece now and then until the gateway has enough. */
async function drip(raw: Raw, piece: string): Promise<void> {
  const timer = setInterval(() => raw.socket.writable && raw.socket.write(piece), 100);
  await raw.closed;
  clearInterval(timer);
}

const upgrade = (headers: string[]) =>
  ['GET /agents/free/sessions/x/attach HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket', ...headers, '', ''].join('\r\n');

describe('a client that is slow', () => {
  it('has so many milliseconds for the head, and for all of a request', () => {
    expect([server.headersTimeout, server.requestTimeout, server.keepAliveTimeout]).toEqual([10_000, 30_000, 72_000]);
    // The tests below need not wait as long: looks for slow requests are as many seconds apart as ever.
    [server.headersTimeout, server.requestTimeout, server.keepAliveTimeout] = [500, 1000, 500];
  });

  it.concurrent.each<[string, string, string, RegExp]>([
    ['says nothing at all', '', '', /^(HTTP\/1\.1 408 |$)/],
    ['never ends its first line', 'GET /hea', 'l', /^HTTP\/1\.1 408 /],
    ['never ends its head', 'GET /healthz HTTP/1.1\r\nHost: x\r\n', 'X-A: b\r\n', /^HTTP\/1\.1 408 /],
    ['never ends the head of an upgrade', upgrade([]).slice(0, -2), 'X-A: b\r\n', /^HTTP\/1\.1 408 /],
    [
      'never ends its body',
      'POST /agents/free/sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer TOKEN\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n',
      ' ',
      /^HTTP\/1\.1 408 /,
    ],
    [
      'never ends a body in chunks',
      'POST /agents/free/sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer TOKEN\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
      '1\r\n \r\n',
      /^HTTP\/1\.1 408 /,
    ],
  ])('and %s is hung up on', async (_, begin, piece, answer) => {
    const raw = open(begin.replace('TOKEN', gateway.token()));
    await (piece === '' ? raw.closed : drip(raw, piece));
    expect(raw.said).toMatch(answer);
  });

  it.concurrent('and asks for nothing more after an answer is hung up on', async () => {
    const raw = open('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await raw.closed;
    expect(raw.said).toMatch(/^HTTP\/1\.1 200 .*"status":"ok"/s);
  });

  it('keeps nobody else waiting', async () => {
    const slow = Array.from({ length: 200 }, () => open('GET /healthz HTTP/1.1\r\nX-A: '));
    expect((await gateway.call('GET', '/healthz')).status).toBe(200);
    for (const { socket } of slow) socket.destroy();
  });
});

describe('a request that says too much', () => {
  const long = (count: number) => 'x'.repeat(count);

  it.each<[string, string, number]>([
    ['a head of more than 16 KiB', `GET /healthz HTTP/1.1\r\nHost: x\r\nX-A: ${long(17_000)}\r\n\r\n`, 431],
    ['an address of more than 16 KiB', `GET /${long(17_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    ['a part of its path of more than 128 characters', `GET /agents/${long(129)}/sessions HTTP/1.1\r\nHost: x\r\n\r\n`, 404],
    ['a token of 8,000 characters', `GET /agents/free/sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${long(8000)}\r\n\r\n`, 401],
    ['two lengths', 'POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx', 400],
    ['a length and chunks', 'POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400],
    ['no host', 'GET /healthz HTTP/1.1\r\n\r\n', 400],
    ['what is no HTTP', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc', 400],
  ])('%s is answered with its status, without a stack', async (_, text, status) => {
    const raw = open(text);
    await expect.poll(() => raw.said).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(raw.said).not.toMatch(/at .*\.[jt]s:/);
    raw.socket.destroy();
  });

  it('an upgrade that is refused is closed', async () => {
    for (const headers of [
      [],
      ['Sec-WebSocket-Version: 13'],
      ['Sec-WebSocket-Protocol: pty-ws.v1'],
      [`Sec-WebSocket-Protocol: ${long(9000)}`],
    ]) {
      const raw = open(upgrade(headers));
      await raw.closed;
      expect(raw.said).toMatch(/^HTTP\/1\.1 40[01] /);
    }
  });
});
