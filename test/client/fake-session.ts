// A session with its log, as the gateway keeps it, whose connections can be cut after any frame. Knows no socket: it speaks through a Wire.
import { randomUUID } from 'node:crypto';
import type { Dial } from '../../src/client/socket.js';
import { encodeOutput } from '../../src/protocol/binary-codec.js';

export interface Wire {
  send(data: string | Uint8Array): void;
  /** The network fails: no close frame. */
  cut(): void;
}

type Payload = Record<string, unknown>;
interface Entry {
  readonly sequence: number;
  readonly payload: Payload;
}

interface Peer {
  readonly wire: Wire;
  readonly binary: boolean;
  /** Frames that still get through. */
  budget: number;
  joined: boolean;
  lagging: boolean;
}

export class FakeSession {
  /** What everyone may see; the numbers between belong to single connections. */
  readonly #log: Entry[] = [];
  readonly #peers = new Set<Peer>();
  readonly #budgets: number[];
  #sequence = 0;
  #oldest = 1;
  #size = { cols: 80, rows: 24 };
  joins = 0;
  /** Whether a Keyframe that is asked for comes. */
  answersKeyframes = false;

  /** The nth connection is cut after so many frames; those after the last of them are not. */
  constructor(budgets: readonly number[] = []) {
    this.#budgets = [...budgets];
  }

  get connected(): number {
    return this.#peers.size;
  }

  get size() {
    return this.#size;
  }

  /** Number of the newest thing that everyone may see. */
  get newest(): number {
    return this.#log.at(-1)?.sequence ?? 0;
  }

  /** All that was ever printed: a list of numbers, since every output prints its own. */
  printed(upTo = Number.POSITIVE_INFINITY): number[] {
    return this.#log.filter(({ sequence, payload }) => payload.kind === 'Output' && sequence <= upTo).map(({ sequence }) => sequence);
  }

  print(): void {
    const sequence = this.#sequence + 1;
    this.#announce({ kind: 'Output', stream: 'stdout', data: base64(`${sequence};`) });
  }

  resize(cols: number, rows: number): void {
    this.#size = { cols, rows };
    this.#announce({ kind: 'Resize', cols, rows });
  }

  members(): void {
    this.#announce({ kind: 'MembershipChanged', controllers: [], observers: [{ client_id: `c-${this.#sequence}` }] });
  }

  /** One that everybody gets. */
  periodicKeyframe(): void {
    this.#announce(this.#keyframe());
  }

  /** A frame for somebody else took a number. */
  gap(): void {
    this.#sequence += 1;
  }

  /** What is up to now is not kept any more. */
  forget(): void {
    this.#oldest = this.#sequence + 1;
  }

  /** Everyone is too slow for what is printed until `caughtUp`. */
  lag(): void {
    for (const peer of this.#joinedPeers()) {
      this.#tell(peer, { kind: 'Error', code: 'PTY_OUTPUT_LAGGED', message: 'too slow' });
      peer.lagging = true;
    }
  }

  caughtUp(): void {
    for (const peer of this.#joinedPeers()) {
      if (!peer.lagging) continue;
      peer.lagging = false;
      this.#tell(peer, this.#keyframe());
    }
  }

  cut(): void {
    for (const peer of [...this.#peers]) this.#cut(peer);
  }

  /** Nothing is cut from now on. */
  heal(): void {
    this.#budgets.length = 0;
    for (const peer of this.#peers) peer.budget = Number.POSITIVE_INFINITY;
  }

  /** A connection is open; what it says is to be given to the function that comes back. */
  attach(wire: Wire, binary: boolean): (data: string | Uint8Array) => void {
    const peer: Peer = { wire, binary, budget: this.#budgets.shift() ?? Number.POSITIVE_INFINITY, joined: false, lagging: false };
    this.#peers.add(peer);
    this.#say(peer, 'binding_hello', { session: { session_id: 'the-session', current_sequence: this.#sequence } });
    return (data) => {
      if (typeof data !== 'string') return;
      const { op, id, replay_from } = JSON.parse(data);
      if (op === 'pty.join_session') this.#join(peer, id, replay_from);
      if (op === 'pty.request_keyframe' && this.answersKeyframes && !peer.lagging) this.#tell(peer, this.#keyframe());
    };
  }

  /** The same without a network. */
  readonly dial: Dial = (target, events) => {
    let over = false;
    let receive: (data: string | Uint8Array) => void = () => {};
    const end = () => {
      if (over) return;
      over = true;
      this.#forgetPeer(wire);
      events.closed({ code: 1006, message: 'cut' });
    };
    const wire: Wire = { send: (data) => over || events.message(data), cut: end };
    queueMicrotask(() => {
      if (over) return;
      events.opened();
      const { promise, resolve } = withResolvers<(data: string | Uint8Array) => void>();
      receive = (data) => void promise.then((take) => over || take(data));
      resolve(this.attach(wire, target.subprotocol.endsWith('.binary')));
    });
    return { send: (data) => receive(data), close: end, drop: end };
  };

  #join(peer: Peer, requestId: string, replayFrom: number | undefined): void {
    this.joins += 1;
    const inRange = replayFrom === undefined || (replayFrom >= this.#oldest - 1 && replayFrom <= this.#sequence);
    const kept = this.#log.filter(({ sequence }) => sequence > (replayFrom ?? Number.POSITIVE_INFINITY));
    this.#tell(peer, { kind: 'RoleAssigned', role: 'observer', client_id: randomUUID() });
    peer.joined = true;
    this.members();
    if (inRange) for (const { sequence, payload } of kept) this.#frame(peer, sequence, payload, false);
    else this.#say(peer, 'Error', { code: 'REPLAY_OUT_OF_RANGE', message: 'not kept', retryable: false }, { id: requestId });
    this.#tell(peer, this.#keyframe());
  }

  #keyframe(): Payload {
    const anchor = this.#log.findLast(({ payload }) => payload.kind === 'Output' || payload.kind === 'Resize')?.sequence ?? 0;
    const snapshot = base64(JSON.stringify(this.printed()));
    const { cols, rows } = this.#size;
    return {
      kind: 'Keyframe',
      snapshot,
      snapshot_format: 'vt100-screen-state-v1',
      snapshot_cols: cols,
      snapshot_rows: rows,
      anchor_sequence: anchor,
    };
  }

  #announce(payload: Payload): void {
    this.#sequence += 1;
    const entry = { sequence: this.#sequence, payload };
    this.#log.push(entry);
    for (const peer of this.#joinedPeers()) if (!peer.lagging) this.#frame(peer, entry.sequence, payload, peer.binary);
  }

  #tell(peer: Peer, payload: Payload): void {
    this.#sequence += 1;
    this.#frame(peer, this.#sequence, payload, false);
  }

  #frame(peer: Peer, sequence: number, payload: Payload, binary: boolean): void {
    if (binary && payload.kind === 'Output') {
      this.#transmit(peer, encodeOutput({ sequence, body: new Uint8Array(Buffer.from(String(payload.data), 'base64')) }));
    } else this.#say(peer, 'pty.session_frame', payload, { sequence });
  }

  #say(peer: Peer, op: string, payload: Payload, extra: Payload = {}): void {
    this.#transmit(peer, JSON.stringify({ op, id: randomUUID(), ts: new Date().toISOString(), payload, ...extra }));
  }

  #transmit(peer: Peer, data: string | Uint8Array): void {
    if (!this.#peers.has(peer)) return;
    peer.budget -= 1;
    if (peer.budget < 0) this.#cut(peer);
    else peer.wire.send(data);
  }

  #cut(peer: Peer): void {
    this.#peers.delete(peer);
    peer.wire.cut();
  }

  #forgetPeer(wire: Wire): void {
    for (const peer of this.#peers) if (peer.wire === wire) this.#peers.delete(peer);
  }

  #joinedPeers(): Peer[] {
    return [...this.#peers].filter(({ joined }) => joined);
  }
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

function withResolvers<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((take) => {
    resolve = take;
  });
  return { promise, resolve };
}
