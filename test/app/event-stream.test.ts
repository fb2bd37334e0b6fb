// Server-sent events, from an iterator to a reader of text.
import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { EventStream } from '../../src/event-stream.js';

const encoding = { encode: JSON.stringify, encodeError: (error: unknown) => (error as Error).message };

async function* two() {
  yield { n: 1 };
  yield { n: 2 };
}

async function textOf(stream: EventStream): Promise<string> {
  let text = '';
  for await (const piece of stream) text += piece;
  return text;
}

test('each thing is one event, and the end is the end', async () => {
  expect(await textOf(new EventStream({ events: two(), ...encoding }))).toBe('data: {"n":1}\n\ndata: {"n":2}\n\n');
});

test('a failure is the last event', async () => {
  async function* failing() {
    yield* two();
    throw new Error('no more');
  }
  expect(await textOf(new EventStream({ events: failing(), ...encoding }))).toMatch(/\{"n":2\}\n\ndata: no more\n\n$/);
});

test('silence is filled with comments', async () => {
  const silent = { next: () => new Promise<never>(() => {}) };
  const stream = new EventStream({ events: silent, ...encoding, keepAliveMs: 5 });
  const [first] = await once(stream, 'data');
  expect(first).toBe(': keep-alive\n\n');
  stream.destroy();
});

test('ended early it says why, and destroyed it lets go of its events at once', async () => {
  for (const end of [(stream: EventStream) => stream.endEarly('bye'), (stream: EventStream) => void stream.destroy()]) {
    const letGo = vi.fn(async () => ({ done: true as const, value: undefined }));
    const events = { next: () => new Promise<never>(() => {}), return: letGo };
    const stream = new EventStream({ events, ...encoding });
    stream.resume();
    const closed = once(stream, 'close');
    end(stream);
    await closed;
    expect(letGo).toHaveBeenCalled();
  }
});

test('a reader that takes nothing is given up, and asked nothing more of its events', async () => {
  let asked = 0;
  const large = { next: async () => ({ done: false as const, value: { n: ++asked, text: 'x'.repeat(100_000) } }) };
  const stream = new EventStream({ events: large, ...encoding, keepAliveMs: 5 });
  stream.read(0);
  await once(stream, 'close');
  expect(asked).toBe(1);
});
