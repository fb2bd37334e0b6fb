// Slow readers: nobody waits for them, and they are told what they missed.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HIGH_WATER_BYTES, TAIL_BYTES } from '../../src/attach/limits.js';
import { type AttachServer, type Client, nameOf, startAttachServer, type Told } from '../support/attach-server.js';
import type { MemorySession } from '../support/memory-session.js';

let server: AttachServer;
beforeAll(async () => {
  server = await startAttachServer();
});
afterAll(() => server.close());

const CHUNK = 64 * 1024;

/** Prints numbered chunks, a few in each turn of the event loop. */
async function flood(session: MemorySession, chunks: number): Promise<void> {
  for (let i = 0; i < chunks; i += 1) {
    session.print(`${i} `.padEnd(CHUNK, '.'));
    if (i % 8 === 0) await new Promise(setImmediate);
  }
}

const chunkOf = (frame: Told | Buffer) => (Buffer.isBuffer(frame) ? Number.parseInt(frame.subarray(13, 30).toString(), 10) : -1);
const chunks = (client: Client) => client.frames.map(chunkOf).filter((n) => n >= 0);
const binary = { protocols: ['pty-ws.v1.binary'] };

describe('a reader that stops', () => {
  it('does not hold up the others, is told that it lagged, and goes on behind a Keyframe', async () => {
    const session = server.newSession();
    const fast = await server.greet(session, binary);
    await fast.attach();
    const slow = await server.greet(session, binary);
    await slow.attach();
    slow.ws.pause();
    const total = (8 * TAIL_BYTES) / CHUNK;
    await flood(session, total);
    await expect.poll(() => chunks(fast).at(-1)).toBe(total - 1);
    expect(session.laggedCalls).toBe(0);
    slow.ws.resume();
    await slow.until('PTY_OUTPUT_LAGGED');
    expect(await slow.next()).toBe('Keyframe');
    session.print('live');
    expect(nameOf(await slow.frame())).toBe('binary');
    expect(session.laggedCalls).toBe(1);
    const got = chunks(slow);
    expect(got).toEqual(Array.from({ length: got.length }, (_, i) => i));
    expect(got.length).toBeLessThan(total);
    expect(chunks(fast)).toEqual(Array.from({ length: total }, (_, i) => i));
  });

  it('when the session has ended meanwhile, misses nothing: it reads the rest from the log', async () => {
    const session = server.newSession();
    const slow = await server.greet(session);
    await slow.attach();
    slow.ws.pause();
    const total = (3 * TAIL_BYTES) / CHUNK;
    await flood(session, total);
    session.close();
    slow.ws.resume();
    await slow.until('binding_goodbye');
    const outputs = slow.frames.filter((frame): frame is Told => nameOf(frame) === 'Output');
    expect(outputs.map((frame) => Number.parseInt(Buffer.from(String(frame.payload.data), 'base64').toString(), 10))).toEqual(
      Array.from({ length: total }, (_, i) => i),
    );
    expect(slow.frames.map(nameOf).slice(-2)).toEqual(['Closed', 'binding_goodbye']);
    expect(await slow.closeCode()).toBe(1000);
    expect(session.laggedCalls).toBe(0);
  });

  it('and lags while the session ends is not forgotten by either', async () => {
    const session = server.newSession();
    const slow = await server.greet(session, binary);
    await slow.attach();
    slow.ws.pause();
    await flood(session, (8 * TAIL_BYTES) / CHUNK);
    session.isEnding = true;
    slow.ws.resume();
    await expect.poll(() => session.laggedCalls).toBe(1);
    session.close();
    await slow.until('Closed');
    expect(await slow.closeCode()).toBe(1000);
  });

  it('holds no more than its bound in memory', async () => {
    const session = server.newSession();
    const slow = await server.greet(session, binary);
    await slow.attach();
    slow.ws.pause();
    await flood(session, (4 * TAIL_BYTES) / CHUNK);
    const waiting = [...server.app.websocketServer.clients].map((ws) => ws.bufferedAmount);
    expect(Math.max(...waiting)).toBeLessThan(HIGH_WATER_BYTES + 2 * CHUNK);
    slow.ws.terminate();
  });

  it('and has subscribed without joining reads the updates it missed from the log', async () => {
    const session = server.newSession();
    const slow = await server.greet(session);
    await slow.answer(slow.say('SubscribeToTask', { task_id: session.id }));
    const other = await server.greet(session);
    await other.answer(
      other.say('SendMessage', {
        message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'a' }] },
        configuration: { returnImmediately: true },
      }),
    );
    for (let i = 0; i < 5000; i += 1) session.print('.');
    session.close();
    const [working, done] = [await slow.until('TaskStatusUpdate'), await slow.until('TaskStatusUpdate')];
    expect([working, done].map((f) => (f.payload.task as { status: { state: string } }).status.state)).toEqual([
      'TASK_STATE_WORKING',
      'TASK_STATE_COMPLETED',
    ]);
    expect(await slow.next()).toBe('binding_goodbye');
  });
});
