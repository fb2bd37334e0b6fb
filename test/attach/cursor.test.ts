// A cursor under any order of events: what is printed, what is private, pictures that come late, a socket that clogs and drains.
import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WebSocket } from 'ws';
import { Cursor } from '../../src/attach/cursor.js';
import { HIGH_WATER_BYTES } from '../../src/attach/limits.js';
import { Outlet } from '../../src/attach/outlet.js';
import { Tail } from '../../src/attach/tail.js';
import { Updates } from '../../src/attach/updates.js';
import { noMeter } from '../../src/metrics/meter.js';
import type { Frame } from '../../src/protocol/frames.js';
import { jsonCodec } from '../../src/protocol/json-codec.js';
import { entry } from '../../src/protocol/make-frames.js';
import { MemoryLog } from '../support/memory-log.js';

/** What is for this cursor's connection alone. */
const own = { to: 'c' };
const picture = { snapshot: '', snapshot_format: 'vt100-screen-state-v1', snapshot_cols: 1, snapshot_rows: 1, anchor_sequence: 0 } as const;

/** Where the session runs; from one that is out of earshot the news did not come, and the log tells only what it keeps. */
type Place = 'here' | 'elsewhere' | 'out of earshot';

/** A text of the wire, or a part of one, without what stands before it (RFC 6455 §5.2). */
function behindHead(piece: Uint8Array): Uint8Array {
  if (piece[0] !== 0x81) return piece;
  return piece.subarray(piece[1] === 127 ? 10 : piece[1] === 126 ? 4 : 2);
}

/** A session, a cursor on it, and a socket that takes what it is told to take. */
class Stage {
  readonly sent: Array<{ sequence: number; kind: string }> = [];
  readonly printed: number[] = [];
  readonly private: number[] = [];
  lags = 0;
  readonly #log = new MemoryLog();
  readonly #socket = Object.assign(new EventEmitter(), {
    cork() {},
    uncork() {},
    write: (piece: Uint8Array) => {
      const text = behindHead(piece);
      if (text.length > 0) this.#ws.send(text);
    },
  });
  readonly #ws = Object.assign(new EventEmitter(), {
    readyState: 1,
    bufferedAmount: 0,
    send: (data: string | Uint8Array) => {
      const { sequence, payload } = JSON.parse(Buffer.from(data as Uint8Array).toString());
      this.sent.push({ sequence, kind: payload.code ?? payload.kind });
    },
  });
  readonly #developing: Array<() => void> = [];
  /** Deliveries of a session that runs elsewhere: their numbers are known before they are here. */
  readonly #onTheWay: Array<() => void> = [];
  readonly #runs: Place;
  readonly #cursor: Cursor;

  constructor(runs: Place) {
    this.#runs = runs;
    const [ws, socket] = [this.#ws as unknown as WebSocket, this.#socket as unknown as Duplex];
    const outlet = new Outlet(ws, socket, { codec: jsonCodec }, () => this.#cursor.wake());
    this.#cursor = new Cursor({
      reader: this.#log,
      tail: new Tail(this.#log, { frames: 6, bytes: 10_000 }),
      outlet,
      updates: new Updates(),
      isBinary: false,
      serviceParameters: () => undefined,
      sent: () => {},
      meter: noMeter,
      events: {
        lagged: async () => this.#lag(),
        outdated: () => this.photograph(),
        closed: () => {},
        failed: (fault) => Promise.reject(fault),
      },
    });
  }

  async join(): Promise<void> {
    this.#cursor.hold();
    const { first, kept, tell } = this.#log.append([own, entry('MembershipChanged', { controllers: [], observers: [] }), own]);
    tell();
    const roleAssigned = { ...entry('RoleAssigned', { role: 'observer', client_id: 'c' }), sequence: first };
    const keyframe = { sequence: first + 2, frame: { ...entry('Keyframe', picture), sequence: first + 2 } };
    const joined = { clientId: 'c', role: 'observer', roleAssigned, membership: kept[0] as Frame, keyframe, oldest: 1 } as const;
    await this.#cursor.flush(joined, { replayFrom: undefined, replayed: () => {}, requestId: 'j', extensions: undefined });
    this.#cursor.release();
  }

  print(): void {
    const { first, tell } = this.#log.append([entry('Output', Buffer.from('x'))]);
    this.printed.push(first);
    tell();
  }

  tellAlone(): void {
    this.#deliver(entry('RoleAssigned', { role: 'observer', client_id: 'c' }));
  }

  /** A Keyframe for this connection, ready after `develop`. */
  photograph(): void {
    this.#deliver(entry('Keyframe', picture), true);
  }

  develop(): void {
    this.#developing.shift()?.();
  }

  arrive(): void {
    this.#onTheWay.shift()?.();
  }

  clog(): void {
    this.#ws.bufferedAmount = HIGH_WATER_BYTES;
  }

  drain(): void {
    this.#ws.bufferedAmount = 0;
    this.#socket.emit('drain');
  }

  async settle(): Promise<void> {
    for (let quiet = 0, seen = -1; quiet < 3; ) {
      this.develop();
      this.arrive();
      this.drain();
      await new Promise(setImmediate);
      quiet = this.sent.length === seen && this.#developing.length + this.#onTheWay.length === 0 ? quiet + 1 : 0;
      seen = this.sent.length;
    }
  }

  #lag(): void {
    this.lags += 1;
    this.#deliver(entry('Error', { code: 'PTY_OUTPUT_LAGGED', message: '' }));
    this.photograph();
  }

  #deliver(draft: Omit<Frame, 'sequence'>, isLate = false): void {
    const { first, tell } = this.#log.append([own]);
    this.private.push(first);
    const frame = { ...draft, sequence: first };
    const late = () => new Promise<Frame>((resolve) => this.#developing.push(() => resolve(frame)));
    const deliver = () => this.#cursor.deliver({ sequence: first, frame: isLate ? late() : frame });
    if (this.#runs === 'here') deliver();
    else this.#onTheWay.push(deliver);
    tell(this.#runs === 'out of earshot' ? [] : undefined);
  }
}

/** Where frames of everyone may be missing: from the last one before a lag notice up to the Keyframe that follows it. */
function gaps({ sent, printed }: Stage): Array<{ from: number; to: number }> {
  return sent.flatMap(({ kind }, i) => {
    const before = sent.slice(0, i).findLast(({ sequence }) => printed.includes(sequence));
    return kind === 'PTY_OUTPUT_LAGGED' ? [{ from: before?.sequence ?? 0, to: sent[i + 1]?.sequence ?? 0 }] : [];
  });
}

const acts = ['print', 'tellAlone', 'photograph', 'develop', 'arrive', 'clog', 'drain', 'turn'] as const;
const weighted = fc.oneof({ weight: 6, arbitrary: fc.constant('print' as const) }, { weight: 4, arbitrary: fc.constantFrom(...acts) });

async function played(place: Place, script: ReadonlyArray<(typeof acts)[number]>): Promise<Stage> {
  const stage = new Stage(place);
  await stage.join();
  for (const act of script) {
    if (act === 'turn') await new Promise(setImmediate);
    else stage[act]();
  }
  await stage.settle();
  return stage;
}

/** What a client that writes every Keyframe has on its screen at the end. */
function onScreen({ sent, printed }: Stage): Set<number> {
  let screen = new Set<number>();
  let isBehind = false;
  for (const { sequence, kind } of sent) {
    if (kind === 'PTY_OUTPUT_LAGGED') isBehind = true;
    else if (kind === 'Keyframe') {
      screen = new Set(printed.filter((n) => n < sequence));
      isBehind = false;
    } else if (kind === 'Output' && !isBehind) screen.add(sequence);
  }
  return screen;
}

describe('a cursor', () => {
  it.each(['here', 'elsewhere'] as const)(
    'of a session that runs %s sends all there is, once, in the order of the numbers; and what it leaves out, it tells of',
    async (place) => {
      let lags = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(weighted, { maxLength: 80 }), async (script) => {
          const stage = await played(place, script);
          const numbers = stage.sent.map(({ sequence }) => sequence);
          expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
          const holes = gaps(stage);
          const missing = [...stage.printed, ...stage.private].filter(
            (n) => !numbers.includes(n) && !holes.some(({ from, to }) => from < n && n < to),
          );
          expect(missing).toEqual([]);
          expect(stage.private.filter((n) => !numbers.includes(n))).toEqual([]);
          expect(holes.length).toBe(stage.lags);
          for (const [i, { kind }] of stage.sent.entries())
            if (kind === 'PTY_OUTPUT_LAGGED') expect(stage.sent[i + 1]?.kind).toBe('Keyframe');
          lags += stage.lags;
        }),
        { numRuns: 400 },
      );
      expect(lags).toBeGreaterThan(0);
    },
  );

  it.each(['here', 'elsewhere', 'out of earshot'] as const)(
    'of a session that runs %s leaves on the screen all that was printed, whatever comes late',
    async (place) => {
      await fc.assert(
        fc.asyncProperty(fc.array(weighted, { maxLength: 80 }), async (script) => {
          const stage = await played(place, script);
          expect([...onScreen(stage)].sort((a, b) => a - b)).toEqual(stage.printed);
          const numbers = stage.sent.map(({ sequence }) => sequence);
          // So few that the tail keeps them all.
          if (stage.printed.length < 5) expect(stage.printed.filter((n) => !numbers.includes(n))).toEqual([]);
        }),
        { numRuns: 400, examples: [[['photograph', 'print', 'turn', 'arrive', 'turn', 'print', 'develop']]] },
      );
    },
  );
});
