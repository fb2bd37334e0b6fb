// What receivers are sent: the body, the headers, the order, and what happens when they do not take it.
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { MAX_WAITING_BYTES, MAX_WAITING_EVENTS } from '../../src/a2a/push/outbox.js';
import { pauseBefore, readRetryAfter } from '../../src/a2a/push/retries.js';
import { ATTEMPTS_AT_ONCE, ATTEMPTS_PER_HOST, Slots } from '../../src/a2a/push/slots.js';
import type { PushConfig } from '../../src/a2a/push.js';
import { type Notifying, notifying as openNotifying } from '../support/notifying.js';
import { openReceiver, type Receiver, type ReceiverOptions } from '../support/receiver.js';

const status = (n: number, state = 'TASK_STATE_WORKING') => ({ statusUpdate: { taskId: 't', status: { state, n } } });
const artifact = (n: number, text = '') => ({ artifactUpdate: { taskId: 't', artifact: { artifactId: 'output', n, text } } });

const closing: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function receiving(options: ReceiverOptions = {}): Promise<Receiver> {
  const receiver = await openReceiver(options);
  closing.push(() => receiver.close());
  return receiver;
}

function notifying(options: Parameters<typeof openNotifying>[0] = {}): Notifying {
  const opened = openNotifying(options);
  closing.push(() => opened.notifier.close());
  return opened;
}

const to = ({ url }: Receiver, more: Partial<PushConfig> = {}) => ({ taskId: 't', id: 'c', url, ...more });
const numbers = (receiver: Receiver) => receiver.events().map((event) => numberOf(event));
const numberOf = (event: Record<string, Record<string, unknown>>) => {
  const { status, artifact } = (event.statusUpdate ?? event.artifactUpdate ?? {}) as { status?: { n: number }; artifact?: { n: number } };
  return (status ?? artifact)?.n ?? expect.fail('neither a status nor an artifact');
};

describe('A notification', () => {
  it('is a POST of the event as a StreamResponse, with the token and the credentials of its config', async () => {
    const receiver = await receiving();
    const { notifier } = notifying();
    const authentication = { scheme: 'Bearer', credentials: 'a secret' };
    expect(await notifier.notify(to(receiver, { url: `${receiver.url}?q=1`, token: 'a token', authentication }), status(1))).toBe(
      'delivered',
    );
    expect(receiver.taken).toMatchObject([{ path: '/hook?q=1', text: JSON.stringify(status(1)) }]);
    expect(receiver.taken[0]?.headers).toMatchObject({
      'content-type': 'application/a2a+json',
      'x-a2a-notification-token': 'a token',
      authorization: 'Bearer a secret',
    });
  });

  it('has neither header where the config has none', async () => {
    const receiver = await receiving();
    await notifying().notifier.notify(to(receiver, { authentication: { scheme: 'Bearer' } }), status(1));
    expect(receiver.taken[0]?.headers).not.toHaveProperty('authorization');
    expect(receiver.taken[0]?.headers).not.toHaveProperty('x-a2a-notification-token');
  });

  it.each([429, 500, 503, 'cut' as const])('is sent again after %s', async (reply) => {
    const receiver = await receiving({ reply: (n) => (n < 2 ? reply : 200) });
    expect(await notifying().notifier.notify(to(receiver), status(1))).toBe('delivered');
    expect(receiver.got).toHaveLength(3);
  });

  it.each([400, 401, 404, 410])('is given up at once after %s, and the next one is sent', async (reply) => {
    const receiver = await receiving({ reply: (n) => (n === 0 ? reply : 200) });
    const { notifier, lines } = notifying();
    expect(await Promise.all([notifier.notify(to(receiver), status(1)), notifier.notify(to(receiver), status(2))])).toEqual([
      'failed',
      'delivered',
    ]);
    expect(lines).toMatchObject([{ task_id: 't', config_id: 'c', attempts: 1, why: `HTTP ${reply}` }]);
    expect(notifier.counts).toEqual({ delivered: 1, failed: 1, dropped: 0, left: 0 });
  });

  it('does not follow a redirect', async () => {
    const elsewhere = await receiving();
    const receiver = await receiving({ reply: () => ({ status: 307, headers: { location: elsewhere.url } }) });
    const { notifier, lines } = notifying();
    expect(await notifier.notify(to(receiver), status(1))).toBe('failed');
    expect([elsewhere.got, lines]).toMatchObject([[], [{ why: 'HTTP 307' }]]);
  });

  it('is delivered whatever the receiver says beside its status, however much that is', async () => {
    const receiver = await receiving({ reply: () => ({ status: 200, body: 'x'.repeat(4_000_000) }) });
    const { notifier } = notifying();
    expect(await Promise.all([1, 2].map((n) => notifier.notify(to(receiver), status(n))))).toEqual(['delivered', 'delivered']);
  });

  it('is told of in one line when it is given up, without anything that is secret', async () => {
    const receiver = await receiving({ reply: () => 503 });
    const { notifier, lines } = notifying();
    const secrets = {
      url: `${receiver.url}/secret?key=secret`,
      token: 'secret',
      authentication: { scheme: 'Basic', credentials: 'secret' },
    };
    expect(await notifier.notify(to(receiver, secrets), status(1))).toBe('failed');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ receiver: new URL(receiver.url).origin, attempts: 4, why: 'HTTP 503' });
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  it('goes to an https receiver whose certificate is known alone', async () => {
    const { notifier, lines } = notifying({ attempts: 1 });
    const receiver = await receiving();
    expect(await notifier.notify(to(receiver, { url: receiver.url.replace('http:', 'https:') }), status(1))).toBe('failed');
    expect(lines).toHaveLength(1);
    expect(receiver.got).toEqual([]);
  });
});

describe('Several notifications', () => {
  it('arrive in order, each at least once, at a receiver that fails at random', async () => {
    const replies = fc.array(fc.constantFrom(200, 200, 204, 429, 500, 503, 'cut' as const), { minLength: 5, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(replies, fc.integer({ min: 1, max: 12 }), async (drawn, count) => {
        const receiver = await openReceiver({ reply: (n) => drawn[n] ?? 200 });
        const { notifier } = notifying({ attempts: drawn.length + 1 });
        const sent = Array.from({ length: count }, (_, n) => (n % 3 === 0 ? status(n) : artifact(n)));
        const outcomes = await Promise.all(sent.map((event) => notifier.notify(to(receiver), event)));
        expect(outcomes).toEqual(sent.map(() => 'delivered'));
        expect(numbers(receiver)).toEqual(sent.map((_, n) => n));
        const all = receiver.got.map(({ text }) => numberOf(JSON.parse(text)));
        expect(all).toEqual([...all].sort((a, b) => a - b));
        await notifier.close();
        await receiver.close();
      }),
      { numRuns: 25 },
    );
  });

  it('do not wait for those of another config', async () => {
    const slow = await receiving({ reply: () => 'silence' });
    const fast = await receiving();
    const { notifier } = notifying();
    void notifier.notify(to(slow), status(1));
    expect(await notifier.notify({ ...to(fast), id: 'd' }, status(2))).toBe('delivered');
  });

  it('are sent to one host a few at a time, and to another one meanwhile; all together are bounded too', async () => {
    const slots = new Slots();
    const began: string[] = [];
    const never = new Promise<never>(() => {});
    const begin = (host: string) =>
      void slots.within(host, () => {
        began.push(host);
        return never;
      });
    for (let n = 0; n < ATTEMPTS_AT_ONCE; n += 1) begin('one');
    for (let n = 0; n < ATTEMPTS_AT_ONCE; n += 1) begin(`other-${n}`);
    await new Promise(setImmediate);
    expect(began.filter((host) => host === 'one')).toHaveLength(ATTEMPTS_PER_HOST);
    expect(began).toHaveLength(ATTEMPTS_AT_ONCE);
  });

  it('wait for room in the order of their coming', async () => {
    const slots = new Slots();
    const ends: Array<() => void> = [];
    const began: number[] = [];
    const work = (n: number) =>
      slots.within('one', () => {
        began.push(n);
        return new Promise<void>((end) => ends.push(end));
      });
    const all = Array.from({ length: 2 * ATTEMPTS_PER_HOST }, (_, n) => work(n));
    for (let n = 0; n < all.length; n += 1) {
      await vi.waitFor(() => expect(ends.length).toBeGreaterThan(n), 10_000);
      ends[n]?.();
    }
    await Promise.all(all);
    expect(began).toEqual(all.map((_, n) => n));
  });

  it('that are too many lose their oldest artifacts, then their oldest states, and never the last', async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const receiver = await receiving({ reply: (n) => gate.then(() => (n < 0 ? 500 : 200)) });
    const { notifier } = notifying();
    const ended = status(1, 'TASK_STATE_COMPLETED');
    const events = [
      status(0),
      ended,
      ...Array.from({ length: MAX_WAITING_EVENTS }, (_, n) => (n % 2 === 0 ? artifact(n + 2) : status(n + 2))),
    ];
    const first = events.map((event) => notifier.notify(to(receiver), event));
    const more = Array.from({ length: MAX_WAITING_EVENTS }, (_, n) => notifier.notify(to(receiver), status(n + 1000)));
    open();
    const outcomes = await Promise.all([...first, ...more]);
    const kept = numbers(receiver);
    expect(kept).toHaveLength(MAX_WAITING_EVENTS);
    expect(kept.slice(0, 3)).toEqual([0, 1, 1002]);
    expect(kept.at(-1)).toBe(999 + MAX_WAITING_EVENTS);
    expect(outcomes.filter((outcome) => outcome === 'dropped')).toHaveLength(notifier.counts.dropped);
    expect(notifier.counts.dropped).toBe(MAX_WAITING_EVENTS + 2);
  });

  it('that are too big lose their oldest artifacts as well', async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const receiver = await receiving({ reply: () => gate.then(() => 200) });
    const { notifier } = notifying();
    const big = 'x'.repeat(MAX_WAITING_BYTES / 4);
    const sent = [0, 1, 2, 3, 4].map((n) => notifier.notify(to(receiver), artifact(n, big)));
    open();
    await Promise.all(sent);
    expect(numbers(receiver)).toEqual([0, 3, 4]);
  });

  it('that wait go where the newest version of their config says', async () => {
    const old = await receiving({ reply: () => 503 });
    const now = await receiving();
    const { notifier } = notifying({ attempts: 1000 });
    const first = notifier.notify(to(old), status(1));
    await old.until(() => old.got.length > 0);
    await Promise.all([first, notifier.notify(to(now), status(2))]);
    expect(numbers(now)).toEqual([1, 2]);
  });

  it('are not sent any more when they are forgotten, and what comes later is', async () => {
    const receiver = await receiving({ reply: (n) => (n === 0 ? 'silence' : 200) });
    const { notifier } = notifying();
    const waiting = [1, 2].map((n) => notifier.notify(to(receiver), status(n)));
    await receiver.until(() => receiver.got.length > 0);
    notifier.forget('t', 'c');
    expect(await Promise.all(waiting)).toEqual(['dropped', 'dropped']);
    expect(await notifier.notify(to(receiver), status(3))).toBe('delivered');
    expect(numbers(receiver)).toEqual([3]);
  });
});

describe('When the gateway ends', () => {
  it('what is on its way is delivered first', async () => {
    const receiver = await receiving({ reply: (n) => (n < 2 ? 503 : 200) });
    const { notifier } = notifying({ patienceMs: 10_000 });
    const sent = [1, 2, 3].map((n) => notifier.notify(to(receiver), status(n)));
    await notifier.close();
    expect(await Promise.all(sent)).toEqual(['delivered', 'delivered', 'delivered']);
    expect(numbers(receiver)).toEqual([1, 2, 3]);
  });

  it('what cannot be delivered in time is left, and so is what comes too late', async () => {
    const receiver = await receiving({ reply: () => 'silence' });
    const { notifier, lines } = notifying();
    const sent = [1, 2].map((n) => notifier.notify(to(receiver), status(n)));
    await receiver.until(() => receiver.got.length > 0);
    await notifier.close();
    expect(await Promise.all([...sent, notifier.notify(to(receiver), status(3))])).toEqual(['left', 'left', 'left']);
    expect(lines).toEqual([]);
  });
});

describe('The pause before the next attempt', () => {
  const retries = { attempts: 5, withinMs: 10_000, firstMs: 100, mostMs: 1000 };

  it('doubles up to its bound, half of it by chance, and is never shorter than the receiver asked for', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 0, max: 3000 }), (made, retryAfterMs) => {
        const full = Math.min(1000, 100 * 2 ** (made - 1));
        const pause = pauseBefore(retries, { made, elapsedMs: 0, retryAfterMs }) ?? expect.fail();
        expect(pause).toBeGreaterThanOrEqual(Math.max(full / 2, retryAfterMs));
        expect(pause).toBeLessThanOrEqual(Math.max(full, retryAfterMs));
      }),
    );
  });

  it('ends with the attempts, and with the time', () => {
    expect(pauseBefore(retries, { made: 5, elapsedMs: 0 })).toBeUndefined();
    expect(pauseBefore(retries, { made: 1, elapsedMs: 9999 })).toBeUndefined();
    expect(pauseBefore(retries, { made: 1, elapsedMs: 0, retryAfterMs: 10_001 })).toBeUndefined();
  });

  it('is asked for in seconds or as a date', () => {
    expect(readRetryAfter('7')).toBe(7000);
    expect(readRetryAfter('Thu, 01 Jan 1970 00:00:09 GMT', 4000)).toBe(5000);
    expect(readRetryAfter('Thu, 01 Jan 1970 00:00:01 GMT', 4000)).toBe(0);
    expect(readRetryAfter('soon')).toBeUndefined();
    expect(readRetryAfter(undefined)).toBeUndefined();
  });
});
