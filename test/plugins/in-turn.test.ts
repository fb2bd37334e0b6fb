// What clients send on one connection before they have their answers.
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import inTurn from '../../plugins/in-turn.js';
import { whileGood } from '../../plugins/validity.js';
import type { Principal } from '../../src/access/principal.js';
import type { Validity } from '../../src/access/validity.js';

let app: FastifyInstance;
let begun: string[];
/** What a request waits for that was begun, by its path. */
let ends: Map<string, () => void>;
/** Of the request that takes so long to be judged that its client is gone. */
let judging: Promise<unknown> | undefined;
let late: AbortSignal | undefined;
let watched: number;

beforeEach(async () => {
  begun = [];
  ends = new Map();
  app = Fastify();
  watched = 0;
  late = judging = undefined;
  await app.register(inTurn);
  app.decorate('validity', { watch: () => ++watched } as unknown as Validity);
  app.decorateRequest('principal', { getter: () => ({ name: 'alice' }) as Principal });
  app.get('/judged/slowly', {
    onRequest: async ({ raw }) => {
      judging = once(raw.socket, 'close');
      await judging;
    },
    handler: async (request, reply) => {
      late = whileGood(request, reply);
    },
  });
  app.get('/:name', async ({ params }) => {
    const { name } = params as { name: string };
    begun.push(name);
    await new Promise<void>((end) => ends.set(name, end));
    return name;
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(() => app.close());

const open = async (): Promise<Socket> => {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
};
const ask = (socket: Socket, ...names: string[]) => socket.write(names.map((name) => `GET /${name} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
const begins = (name: string) => expect.poll(() => begun).toContain(name);

describe('requests that come at once', () => {
  it('on one connection are begun one after the other, in their order', async () => {
    const socket = await open();
    let heard = '';
    socket.on('data', (data) => {
      heard += data;
    });
    ask(socket, 'a', 'b', 'c');
    for (const [i, name] of ['a', 'b', 'c'].entries()) {
      await begins(name);
      expect(begun).toEqual(['a', 'b', 'c'].slice(0, i + 1));
      ends.get(name)?.();
    }
    await expect.poll(() => heard.match(/(?<=\r\n\r\n)[abc]/g)).toEqual(['a', 'b', 'c']);
    socket.destroy();
  });

  it('on two connections do not wait for each other', async () => {
    const [one, other] = [await open(), await open()];
    ask(one, 'slow');
    await begins('slow');
    ask(other, 'quick');
    await begins('quick');
    for (const socket of [one, other]) socket.destroy();
  });

  it('are not begun when the connection is gone by then', async () => {
    const socket = await open();
    ask(socket, 'a', 'b', 'c');
    await begins('a');
    const isGone = new Promise((gone) => app.server.once('connection', () => gone(true)));
    socket.destroy();
    const next = await open();
    await isGone;
    ends.get('a')?.();
    ask(next, 'd');
    await begins('d');
    ends.get('d')?.();
    await once(next, 'data');
    expect(begun).toEqual(['a', 'd']);
    next.destroy();
  });
});

describe('who is gone before what it asked for is begun', () => {
  it('is not watched, and waited for by nobody', async () => {
    const socket = await open();
    ask(socket, 'judged/slowly');
    await expect.poll(() => judging !== undefined).toBe(true);
    socket.destroy();
    await judging;
    await expect.poll(() => late?.aborted).toBe(true);
    expect(watched).toBe(0);
  });
});
