// Clients that send fast: they are read as fast as they may send, and nothing of an honest one is lost.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import {
  BYTE_BURST,
  BYTES_PER_SECOND,
  CALM_MS,
  CROWDED_MS,
  FLOOD_MS,
  FRAME_BURST,
  FRAMES_PER_SECOND,
  HELD_LONG_MS,
  HIGH_WATER_BYTES,
  MAX_BYTES_IN_FLIGHT,
  MAX_REQUESTS_IN_FLIGHT,
  REFUSAL_PATIENCE,
  SHORTEST_PAUSE_MS,
} from '../../src/attach/limits.js';
import { Outlet } from '../../src/attach/outlet.js';
import { type HeldFor, Pace } from '../../src/attach/pace.js';
import { RequestBudget } from '../../src/attach/request-budget.js';
import { jsonCodec } from '../../src/protocol/json-codec.js';
import { type AttachServer, nameOf, startAttachServer } from '../support/attach-server.js';
import type { MemorySession } from '../support/memory-session.js';

describe('the pace of a connection', () => {
  let isHeld: boolean;
  let floods: number;
  let held: Partial<Record<HeldFor, number>>;
  let told: HeldFor[];
  let pace: Pace;
  beforeEach(() => {
    vi.useFakeTimers();
    [isHeld, floods, held, told] = [false, 0, {}, []];
    pace = new Pace({
      hold: () => {
        isHeld = true;
      },
      goOn: () => {
        isHeld = false;
      },
      held: (cause, seconds) => {
        held[cause] = (held[cause] ?? 0) + seconds;
      },
      heldLong: (cause) => told.push(cause),
      flooded: () => {
        floods += 1;
      },
    });
  });
  afterEach(() => {
    pace.stop();
    vi.useRealTimers();
  });
  const frames = (count: number) => {
    for (let i = 0; i < count; i += 1) pace.frame();
  };

  it('lets a burst pass, and waits for as long as what is beyond it takes', () => {
    frames(FRAME_BURST);
    expect(isHeld).toBe(false);
    frames(FRAMES_PER_SECOND);
    expect(isHeld).toBe(true);
    vi.advanceTimersByTime(990);
    expect(isHeld).toBe(true);
    vi.advanceTimersByTime(20);
    expect(isHeld).toBe(false);
  });

  it('counts bytes as well, and never sends anybody away for them', () => {
    pace.bytes(BYTE_BURST);
    expect(isHeld).toBe(false);
    for (let ms = 0; ms < 2 * FLOOD_MS; ms += 1000) {
      pace.bytes(BYTES_PER_SECOND);
      expect(isHeld).toBe(true);
      vi.advanceTimersByTime(1000 + SHORTEST_PAUSE_MS);
    }
    expect(floods).toBe(0);
  });

  it('tells of one who floods on and on, though it is held back', () => {
    frames(FRAME_BURST);
    for (let ms = 0; ms <= FLOOD_MS; ms += 100) {
      expect(floods).toBe(0);
      frames(FRAMES_PER_SECOND / 10);
      vi.advanceTimersByTime(100);
      while (isHeld) vi.advanceTimersByTime(1);
    }
    frames(1);
    expect(floods).toBeGreaterThan(0);
  });

  it('forgets a flood that has paused', () => {
    for (let ms = 0; ms < 3 * FLOOD_MS; ms += FLOOD_MS / 3) {
      frames(2 * FRAME_BURST);
      while (isHeld) vi.advanceTimersByTime(100);
      vi.advanceTimersByTime(FRAME_BURST / (FRAMES_PER_SECOND / 1000) + CALM_MS);
    }
    expect(floods).toBe(0);
  });

  it('waits while too much is still to be done, but not for ever', () => {
    pace.crowded(true);
    expect(isHeld).toBe(true);
    pace.crowded(false);
    vi.advanceTimersByTime(2 * SHORTEST_PAUSE_MS);
    expect(isHeld).toBe(false);
    pace.crowded(true);
    vi.advanceTimersByTime(CROWDED_MS - 100);
    expect(isHeld).toBe(true);
    vi.advanceTimersByTime(200);
    expect(isHeld).toBe(false);
  });

  it('counts for how long it has waited, by what was too much, and tells once of what goes on and on', () => {
    pace.bytes(BYTE_BURST);
    for (let ms = 0; ms < 2 * HELD_LONG_MS; ms += 1000) {
      pace.bytes(BYTES_PER_SECOND);
      vi.advanceTimersByTime(1000);
    }
    vi.advanceTimersByTime(SHORTEST_PAUSE_MS);
    expect(Object.keys(held)).toEqual(['bytes']);
    expect(held.bytes).toBeCloseTo((2 * HELD_LONG_MS) / 1000, 0);
    expect(told).toEqual(['bytes']);
    vi.advanceTimersByTime(10 * CALM_MS);
    frames(2 * FRAME_BURST);
    pace.stop();
    expect(told).toEqual(['bytes']);
  });

  it('reads what is left when it is stopped', () => {
    frames(2 * FRAME_BURST);
    pace.stop();
    expect(isHeld).toBe(false);
    frames(1);
    expect(isHeld).toBe(false);
  });
});

describe('a Ping', () => {
  it.each([
    [0, 1],
    [HIGH_WATER_BYTES, 0],
  ])('is answered while %i bytes wait for the socket: %i', (bufferedAmount, answers) => {
    const pong = vi.fn();
    const ws = { readyState: WebSocket.OPEN, bufferedAmount, pong, once: () => {} } as unknown as WebSocket;
    new Outlet(ws, new PassThrough(), { codec: jsonCodec }, () => {}).pong(Buffer.from('x'));
    expect(pong).toHaveBeenCalledTimes(answers);
  });
});

describe('what a connection has in flight', () => {
  it('is bounded in requests and in bytes', () => {
    const many = new RequestBudget(() => 0);
    for (let i = 0; i < MAX_REQUESTS_IN_FLIGHT; i += 1) expect(many.admit(1)).toBe('take');
    expect([many.admit(1), many.isCrowded]).toEqual(['refuse', true]);
    many.done(1);
    expect(many.admit(1)).toBe('take');
    const big = new RequestBudget(() => 0);
    expect(big.admit(MAX_BYTES_IN_FLIGHT)).toBe('take');
    expect(big.admit(1)).toBe('refuse');
  });

  it('is the end of who asks and never reads, and not of who is refused now and then', () => {
    let now = 0;
    const budget = new RequestBudget(() => now);
    for (let i = 0; i < MAX_REQUESTS_IN_FLIGHT; i += 1) budget.admit(1);
    for (let i = 0; i < 2 * REFUSAL_PATIENCE; i += 1) {
      now += 1000;
      expect(budget.admit(1)).toBe('refuse');
    }
    const verdicts = Array.from({ length: REFUSAL_PATIENCE + 1 }, () => budget.admit(1));
    expect(verdicts.at(-1)).toBe('dismiss');
  });
});

describe('a client', () => {
  let server: AttachServer;
  beforeAll(async () => {
    server = await startAttachServer({ MAX_MESSAGE_BYTES: '1048576' });
  });
  afterAll(() => server.close());

  it.each([64, 4096, 700_000])('that pastes 1 MiB in pieces of %i bytes is read to the end, and refused nothing', async (size) => {
    const session = server.newSession();
    const client = await server.greet(session);
    await client.attach();
    const paste = 'x'.repeat(1024 * 1024);
    for (let at = 0; at < paste.length; at += size) client.type(paste.slice(at, at + size));
    const ping = client.say('ping', { client_ts: '' });
    while (!client.frames.some((frame) => !Buffer.isBuffer(frame) && frame.id === ping)) await once(client.ws, 'message');
    expect(session.typed.join('').length).toBe(paste.length);
    expect(client.frames.map(nameOf)).not.toContain('RATE_LIMITED');
    client.ws.terminate();
  });

  it('that asks without end and reads no answer is told so, and closed with 4429', async () => {
    const session = server.newSession();
    const raw = await rawAttach(session);
    const task = text(JSON.stringify({ op: 'GetTask', id: 'p', payload: { task_id: session.id } }));
    const flood = Buffer.concat(Array.from({ length: 1000 }, () => task));
    raw.pause();
    const ours = [...server.app.websocketServer.clients].at(-1);
    while (ours?.readyState === WebSocket.OPEN) {
      if (raw.writableLength < flood.length) raw.write(flood);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    raw.resume();
    await expect
      .poll(() => raw.said, { timeout: 10_000 })
      .toMatch(/"code":"RATE_LIMITED".*"op":"binding_goodbye".*"reason":"rate_limited"/s);
    await expect.poll(() => raw.closeCode).toBe(4429);
    raw.destroy();
  }, 60_000);

  it('that sends fragments without end is closed with 1008 or 1009, having been kept in bounds', async () => {
    for (const [fragment, code] of [
      [frame(0x00, Buffer.alloc(0)), 1008],
      [frame(0x00, Buffer.alloc(65_000, 0x61)), 1009],
    ] as const) {
      const raw = await rawAttach(server.newSession());
      const closed = once(raw, 'close');
      raw.write(frame(0x01, Buffer.from('x')));
      for (let i = 0; i < 20_000 && !raw.destroyed; i += 1) if (!raw.write(fragment)) await Promise.race([once(raw, 'drain'), closed]);
      await closed;
      expect(raw.closeCode).toBe(code);
    }
  });

  /** A WebSocket that does just what it is told, joined by nobody; it destroys itself when it is closed. */
  async function rawAttach(session: MemorySession): Promise<Socket & { said: string; closeCode: number | undefined }> {
    const raw = Object.assign(connect(server.port, '127.0.0.1'), { said: '', closeCode: undefined as number | undefined });
    raw.on('error', () => {});
    raw.write(
      `GET /agents/inst-a/sessions/${session.id}/attach HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\nSec-WebSocket-Protocol: pty-ws.v1\r\n` +
        `Authorization: Bearer ${server.token()}\r\n\r\n`,
    );
    await new Promise<void>((resolve) => {
      raw.on('data', (chunk: Buffer) => {
        raw.said = (raw.said + chunk.toString('latin1')).slice(-65_536);
        if (raw.said.includes('binding_hello')) resolve();
        const close = chunk.indexOf(Buffer.from([0x88]), Math.max(0, chunk.length - 127));
        if (close >= 0 && chunk.length >= close + 4 && (chunk[close + 1] ?? 0) < 126) raw.closeCode = chunk.readUInt16BE(close + 2);
      });
    });
    return raw;
  }
});

/** A frame as a client sends it, masked with zeros. */
function frame(head: number, body: Buffer): Buffer {
  const { length } = body;
  const size = length < 126 ? Buffer.from([0x80 | length]) : Buffer.from([0x80 | 126, length >> 8, length & 255]);
  return Buffer.concat([Buffer.from([head]), size, Buffer.alloc(4), body]);
}
const text = (body: string) => frame(0x81, Buffer.from(body));
