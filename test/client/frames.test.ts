// Frames that a reader pulls: all of them as long as it keeps up, a Keyframe for those it was too slow for, and never more than its buffer holds.
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { Emitter } from '../../src/client/emitter.js';
import { Frames } from '../../src/client/frames.js';
import { type ClientEvents, connectBy, type ScreenFrame, type TerminalClient } from '../../src/client/index.js';
import { type ClientOptions, connect } from '../../src/client/node.js';
import { FakeSession } from './fake-session.js';
import { type Peer, scriptedGateway } from './scripted-gateway.js';

const closing: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const turn = () => new Promise((resolve) => setTimeout(resolve, 0));

/** A client that is live on one connection with a gateway. */
async function live(options: Partial<ClientOptions> = {}): Promise<{ client: TerminalClient; peer: Peer }> {
  const gateway = await scriptedGateway();
  const client = connect({ url: gateway.url, ...options });
  closing.push(gateway.close, () => client.close());
  const peer = await gateway.connection();
  await peer.welcome(1);
  peer.keyframe(3, '');
  await client.live();
  return { client, peer };
}

describe('a slow reader', () => {
  const step = fc.constantFrom('print', 'print', 'print', 'read', 'resize', 'cut', 'lag', 'caughtUp', 'forget', 'gap', 'wait');

  it('has in the end the screen of the session, whatever was dropped, cut, lagged or forgotten, and is told of each number that it did not get', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), fc.integer({ min: 1, max: 700 }), async (steps, bufferBytes) => {
        const session = new FakeSession();
        session.answersKeyframes = true;
        const client = connectBy(session.dial, { url: 'ws://nowhere/attach', reconnect: { firstMs: 0, maxMs: 0 }, replayFrom: 0 });
        const reader = new Reader(client.frames({ bufferBytes }));
        const acts = {
          print: () => session.print(),
          read: () => reader.read(),
          resize: () => session.resize(90, 30),
          cut: () => session.cut(),
          lag: () => session.lag(),
          caughtUp: () => session.caughtUp(),
          forget: () => session.forget(),
          gap: () => session.gap(),
          wait: turn,
        };
        for (const each of steps) await acts[each]();
        session.caughtUp();
        await client.live();
        session.print();
        await reader.until(() => reader.shown.at(-1) === session.newest);
        expect(reader.shown).toEqual(session.printed());
        expect(session.printed().filter((number) => !reader.given.has(number) && !reader.lost(number))).toEqual([]);
        client.close();
      }),
      { numRuns: 300 },
    );
  });

  it('stops the gateway and misses nothing, where the platform can stop to read', async () => {
    const { client, peer } = await live({ heartbeat: { quietMs: 50, answerMs: 50 } });
    const frames = client.frames({ bufferBytes: 1_000_000 });
    const piece = 'x'.repeat(100_000);
    let came = 0;
    client.on('output', () => void came++);
    for (let n = 1; n <= 200; n++) peer.output(3 + n, piece);
    // In so many turns all of it would come, if it were not stopped.
    for (let turns = 0; turns < 1000 || came < 5; turns++) await turn();
    expect(came).toBeLessThan(200);
    let read = 0;
    for await (const frame of frames) {
      expect(frame).toMatchObject({ kind: 'output', sequence: 4 + read, replayed: false });
      read += 1;
      if (read === 200) break;
    }
    expect(client.state.name).toBe('live');
  });

  it('still gets the answers that it waits for', async () => {
    const { client, peer } = await live();
    const frames = client.frames({ bufferBytes: 100_000 });
    for (let n = 1; n <= 50; n++) peer.output(3 + n, 'x'.repeat(20_000));
    await frames.next();
    const typed = client.typed();
    peer.answer(await peer.hear(), 'pong', {});
    await typed;
  });
});

describe('a hole', () => {
  it('ends with a Keyframe that counts, also where that ends a replay of which the reader has only a part', async () => {
    const events = new Emitter<ClientEvents>();
    const held: boolean[] = [];
    const on: TerminalClient['on'] = (name, listener) => events.on(name, listener);
    const source = { on, hold: (is: boolean) => void held.push(is), requestKeyframe: () => {}, ended: new Promise(() => {}) };
    const frames = new Frames(source, { bufferBytes: 1000 });
    for (let sequence = 1; sequence <= 3; sequence++) events.emit('output', new Uint8Array(400), sequence, true);
    expect([(await frames.next()).value, (await frames.next()).value]).toMatchObject([{ sequence: 1 }, { sequence: 2 }]);
    events.emit('keyframe', { snapshot: new Uint8Array(5000), cols: 80, rows: 24, sequence: 9, anchor: 3, afterReplay: true });
    const missed = { kind: 'missed', cause: 'slow_reader', from: 3, to: 9, replayed: false, keyframe: 9 };
    expect((await frames.next()).value).toEqual(missed);
    expect((await frames.next()).value).toMatchObject({ kind: 'keyframe', sequence: 9, afterReplay: false });
    expect(held).toEqual([true, false, true, false]);
  });
});

describe('reading', () => {
  it('ends with the client, after what was there before', async () => {
    const { client, peer } = await live();
    const frames = client.frames();
    peer.output(9, 'last words');
    peer.goodbye('session_closed');
    const read: ScreenFrame[] = [];
    for await (const frame of frames) read.push(frame);
    expect(read).toEqual([{ kind: 'output', bytes: new Uint8Array(Buffer.from('last words')), sequence: 9, replayed: false }]);
  });

  it('is broken off by its signal, and by leaving the loop; the client goes on', async () => {
    const { client, peer } = await live();
    const reason = new Error('enough');
    await expect(client.frames({ signal: AbortSignal.abort(reason) }).next()).rejects.toBe(reason);
    const controller = new AbortController();
    const reading = client.frames({ signal: controller.signal }).next();
    controller.abort(reason);
    await expect(reading).rejects.toBe(reason);
    peer.output(9, 'one');
    for await (const _ of client.frames()) break;
    expect(client.state.name).toBe('live');
  });
});

/** What a reader shows, and what it knows of what it does not. */
class Reader {
  shown: number[] = [];
  readonly given = new Set<number>();
  readonly #holes: Array<{ from: number; to: number }> = [];
  readonly #frames: Frames;
  #reading: Promise<void> | undefined;

  constructor(frames: Frames) {
    this.#frames = frames;
  }

  lost(number: number): boolean {
    return this.#holes.some(({ from, to }) => from <= number && number <= to);
  }

  /** Begins to read one frame, unless it is about to. */
  read(): void {
    this.#reading ??= this.#one().finally(() => {
      this.#reading = undefined;
    });
  }

  async until(done: () => boolean): Promise<void> {
    for (let turns = 0; turns < 5000 && !done(); turns++) {
      this.read();
      await turn();
    }
  }

  async #one(): Promise<void> {
    const { value } = await this.#frames.next();
    if (value?.kind === 'output') this.#output(Number(text(value.bytes).replace(';', '')));
    if (value?.kind === 'keyframe' && !value.afterReplay) this.shown = JSON.parse(text(value.snapshot));
    if (value?.kind === 'missed' && !value.replayed) this.#holes.push(value);
  }

  #output(number: number): void {
    this.shown.push(number);
    this.given.add(number);
  }
}
