// A connection's place in its session: which frame it is sent next. Knows no verb and no permission.
import { asFault, Fault } from '../errors.js';
import type { LogReader } from '../log/log.js';
import type { Meter } from '../metrics/meter.js';
import type { Frame } from '../protocol/frames.js';
import type { Delivery, Joined } from '../session/session.js';
import { Lag } from './lag.js';
import type { Resumed } from './legacy-replay.js';
import { DELIVERY_PATIENCE_MS, MAX_DELIVERIES } from './limits.js';
import type { Outlet } from './outlet.js';
import { isUpdate, Past } from './past.js';
import type { Tail, TailFrame } from './tail.js';
import type { Updates } from './updates.js';

interface CursorEvents {
  /** This member's place fell out of the tail: the session is to be told, once (pty-ext §7.7). Resolves when it was; never rejects. */
  lagged(): Promise<void>;
  /** A Keyframe for this member came too late to be of use: the session is to be asked for another. */
  outdated(): void;
  /** The session has ended, and all of it was sent. */
  closed(): void;
  /** Nothing more can be sent. */
  failed(fault: Fault): void;
}

export interface CursorParts {
  readonly reader: LogReader;
  readonly tail: Tail;
  readonly outlet: Outlet;
  readonly updates: Updates;
  /** Live Output goes out as BINARY frames. */
  readonly isBinary: boolean;
  /** What goes with each TaskStatusUpdate of this connection (pty-ws §9). */
  readonly serviceParameters: () => Readonly<Record<string, unknown>> | undefined;
  /** Told of each frame of the session that goes out, in order, and of one that others are sent as well, what is remembered with it. */
  readonly sent: (frame: Frame, live?: TailFrame) => void;
  readonly meter: Meter;
  readonly events: CursorEvents;
}

export interface FlushOptions {
  /** Exclusive; undefined replays nothing. */
  readonly replayFrom: number | undefined;
  /** Told that what was asked for was sent, or why not. */
  readonly replayed: (refusal: Fault | undefined) => void;
  /** The join's, for the Error of a replay out of range. */
  readonly requestId: string;
  /** What the first frame activated, to be echoed (protocol R5). */
  readonly extensions: readonly string[] | undefined;
}

/**
 * Frames of everyone come from the tail, those for this connection alone by `deliver`; both leave in the order of their
 * numbers, at the pace of the socket. Sending happens once a turn of the event loop, when all that the turn made known is
 * there: private frames fall into their place, and what belongs together shares one write.
 */
export class Cursor {
  readonly #parts: CursorParts;
  readonly #unwatch: () => void;
  readonly #deliveries: Delivery[] = [];
  /** All frames up to this number were sent, or were not wanted. */
  #place: number;
  #isJoined = false;
  #clientId: string | undefined;
  #isAwake = false;
  #isEnded = false;
  /** While somebody holds it, nothing is sent but what they send themselves. */
  #holders = 0;
  readonly #lag = new Lag();
  readonly #past: Past;
  #isClosedSent = false;
  #patience: NodeJS.Timeout | undefined;
  /** The end of the session was told to `events`, or came before this connection. */
  #isOver: boolean;
  #last: { readonly sequence: number; readonly reached: () => void } | undefined;
  #resumed: Resumed | undefined;

  constructor(parts: CursorParts) {
    this.#parts = parts;
    const encode = (frame: Frame) => {
      parts.sent(frame);
      return this.#encode(frame);
    };
    this.#past = new Past(parts.reader, parts.outlet, encode, parts.meter);
    this.#place = parts.tail.current;
    this.#isOver = parts.tail.closed !== undefined;
    this.#unwatch = parts.tail.watch(() => this.wake());
  }

  /** A frame for this connection alone, in ascending order of numbers. */
  deliver(delivery: Delivery): void {
    if (this.#isEnded) return;
    if (this.#deliveries.length >= MAX_DELIVERIES) {
      this.#parts.events.failed(new Fault('RATE_LIMITED', `more than ${MAX_DELIVERIES} frames for this connection alone are waiting`));
      return;
    }
    this.#deliveries.push(delivery);
    this.wake();
  }

  /** Frames that are known here and have yet to be passed; 0 before the join, and while a Keyframe is awaited in place of them. */
  get lag(): number {
    return this.#isJoined && !this.#lag.isOn ? Math.max(0, this.#parts.tail.current - this.#place) : 0;
  }

  /** There may be something to send. */
  wake(): void {
    if (this.#isAwake || this.#isEnded) return;
    this.#isAwake = true;
    setImmediate(() => {
      this.#isAwake = false;
      this.#pump();
    });
  }

  /** Nothing is sent until as many `release` follow. */
  hold(): void {
    this.#holders += 1;
  }

  release(): void {
    this.#holders -= 1;
    this.wake();
  }

  /** The join goes on from there. To be called before it. */
  resumed(resumed: Resumed): void {
    this.#resumed = resumed;
  }

  /** Sends the flush of a join (protocol R1, R2), then live begins. To be called while held, in the turn in which the join was taken. */
  async flush(joined: Joined, { replayFrom, replayed, requestId, extensions }: FlushOptions): Promise<void> {
    const { outlet } = this.#parts;
    this.#passTo(joined.roleAssigned.sequence);
    outlet.frame(joined.roleAssigned, { extensions });
    const isWhole = this.#resumed !== undefined && (await this.#goOn(this.#resumed, joined.roleAssigned.sequence - 1));
    outlet.frame(joined.membership);
    if (replayFrom !== undefined) replayed(await this.#past.replayForJoin(joined, replayFrom, requestId));
    if (!isWhole) this.#sendOwn(await joined.keyframe.frame);
    this.#isJoined = true;
    this.#clientId = joined.clientId;
    this.#place = joined.keyframe.sequence;
    if (joined.closed) this.#endWith(joined.closed);
  }

  /** Sends the TaskStatusUpdates after `replayFrom` again. To be called while held. Rejects with REPLAY_OUT_OF_RANGE. */
  replayUpdates(replayFrom: number): Promise<void> {
    return this.#past.replayUpdates(replayFrom, this.#place);
  }

  /** No frame with a higher number is sent. Resolves when this one was, or cannot be. */
  stopAfter(sequence: number): Promise<void> {
    return new Promise((reached) => {
      this.#last = { sequence, reached };
      this.wake();
    });
  }

  /** Sends what can be sent at once, then nothing more. */
  finish(): void {
    this.#pump();
    this.end();
  }

  end(): void {
    this.#isEnded = true;
    clearTimeout(this.#patience);
    this.#deliveries.length = 0;
    this.#unwatch();
    this.#last?.reached();
  }

  #pump(): void {
    const { outlet } = this.#parts;
    outlet.together(() => {
      while (!this.#isEnded && this.#holders === 0 && outlet.hasRoom && this.#step());
    });
  }

  /** Sends or passes one frame. False when nothing is left to do before the next `wake`. */
  #step(): boolean {
    if (this.#isBehind()) return this.#last ? this.#stop() : this.#catchUp();
    const next = this.#lag.isOn ? undefined : this.#parts.tail.after(this.#place);
    const delivery = this.#deliveries[0];
    if (delivery && this.#isDue(delivery, next)) return this.#sendDelivery(delivery);
    if (this.#isPrivateFirst(next)) return this.#waitForDelivery();
    return next ? this.#sendNext(next) : this.#rest();
  }

  /** A private frame is due when all frames with a lower number are known, and sent. */
  #isDue({ sequence }: Delivery, next: TailFrame | undefined): boolean {
    return sequence <= this.#parts.tail.current + 1 && (!next || sequence < next.frame.sequence);
  }

  /** Of a session that runs elsewhere, a number may be known before the frame that it was given for. */
  #isPrivateFirst(next: TailFrame | undefined): boolean {
    if (this.#clientId === undefined || this.#lag.isOn) return false;
    const given = this.#parts.tail.placeAfter(this.#clientId, this.#place);
    return given !== undefined && (!next || given < next.frame.sequence);
  }

  #waitForDelivery(): false {
    this.#patience ??= setTimeout(() => {
      this.#patience = undefined;
      const given = this.#parts.tail.placeAfter(this.#clientId ?? '', this.#place);
      if (given !== undefined) this.#place = given;
      this.wake();
    }, DELIVERY_PATIENCE_MS).unref();
    return false;
  }

  #sendNext(next: TailFrame): boolean {
    const { frame } = next;
    const wanted = this.#wants(frame);
    if (wanted === 'wait') return false;
    const isBeyond = this.#last && frame.sequence > this.#last.sequence;
    if (wanted === 'yes' && !isBeyond) this.#sendLive(next);
    this.#place = frame.sequence;
    return true;
  }

  #wants(frame: Frame): 'yes' | 'no' | 'wait' {
    if (isUpdate(frame)) return this.#parts.updates.wanted;
    return this.#isJoined && !this.#parts.outlet.codec.leavesOut(frame) ? 'yes' : 'no';
  }

  #sendLive(live: TailFrame): void {
    const { outlet, isBinary, updates, sent, meter } = this.#parts;
    sent(live.frame, live);
    if (isUpdate(live.frame)) outlet.text(this.#encode(live.frame));
    else outlet.shared(live.frame.kind === 'Output' && isBinary ? live.binary : live.text(outlet.codec));
    if (isUpdate(live.frame)) updates.sent(live.frame);
    if (live.frame.kind === 'Closed') this.#isClosedSent = true;
    live.delivered(meter);
  }

  /** A frame for this connection alone. */
  #sendOwn(frame: Frame): void {
    this.#parts.sent(frame);
    this.#parts.outlet.frame(frame);
  }

  /** As text, with what this connection wants to go with it. */
  #encode(frame: Frame): Uint8Array {
    return this.#parts.outlet.codec.frame(frame, isUpdate(frame) ? { service_parameters: this.#parts.serviceParameters() } : {});
  }

  #sendDelivery(delivery: Delivery): boolean {
    const { sequence, frame } = delivery;
    if (frame instanceof Promise) return this.#waitFor(sequence, frame);
    this.#deliveries.shift();
    clearTimeout(this.#patience);
    this.#patience = undefined;
    if (this.#isOutdated(frame)) return this.#askAnew();
    this.#sendOwn(frame);
    this.#place = Math.max(this.#place, sequence);
    if (this.#lag.sent(frame)) this.#place = sequence;
    return true;
  }

  /** A picture whose number was not known in time: what was sent since would be gone from the screen again. */
  #isOutdated({ kind, sequence }: Frame): boolean {
    const { tail } = this.#parts;
    const next = tail.after(sequence)?.frame.sequence ?? Number.POSITIVE_INFINITY;
    return kind === 'Keyframe' && (next <= this.#place || (sequence <= this.#place && sequence < tail.floor));
  }

  /** All other frames go on meanwhile: none is missed for it. */
  #askAnew(): true {
    if (!this.#lag.isOn) this.#parts.events.outdated();
    return true;
  }

  /** A frame that is not ready holds back all that follows it, for this connection. */
  #waitFor(sequence: number, frame: Promise<Frame>): false {
    this.hold();
    frame.then(
      (ready) => {
        if (this.#deliveries.length > 0) this.#deliveries[0] = { sequence, frame: ready };
        this.release();
      },
      (error) => this.#parts.events.failed(asFault(error)),
    );
    return false;
  }

  /** At the end of all that is known. */
  #rest(): boolean {
    const { tail } = this.#parts;
    if (this.#lag.isOn) return tail.closed !== undefined && this.#deliveries.length === 0 && this.#lag.giveUp();
    this.#place = Math.max(this.#place, tail.current);
    if (tail.closed && !this.#isOver) this.#endWith(tail.closed.frame);
    return this.#last && this.#place >= this.#last.sequence ? this.#stop() : false;
  }

  #endWith(closed: Frame): void {
    this.#isOver = true;
    if (this.#isJoined && !this.#isClosedSent) {
      this.#parts.outlet.frame(closed);
      this.#isClosedSent = true;
    }
    this.#parts.events.closed();
  }

  /** What came between the replay and the join. True if the client has all that its screen is made of. */
  async #goOn({ at, isWhole }: Resumed, upTo: number): Promise<boolean> {
    const isSent = await this.#past.catchUp(at, upTo, { updatesOnly: false });
    return isWhole && isSent;
  }

  #stop(): false {
    this.end();
    return false;
  }

  #isBehind(): boolean {
    return !this.#lag.isOn && this.#place < this.#parts.tail.floor;
  }

  /** A member of a running session gets a Keyframe in place of what it missed; all others read it from the log. */
  #catchUp(): boolean {
    const { tail, updates, events } = this.#parts;
    if (this.#isJoined && !tail.closed) this.#lag.begin(events.lagged, () => this.wake());
    else if (this.#isJoined || updates.wanted !== 'no') void this.#readOn(tail.floor);
    else this.#place = tail.floor;
    return this.#holders === 0;
  }

  async #readOn(upTo: number): Promise<void> {
    this.hold();
    await this.#past.catchUp(this.#place, upTo, { updatesOnly: !this.#isJoined });
    this.#place = Math.max(this.#place, upTo);
    this.release();
  }

  /** Updates that a subscriber is still to get before it joins. */
  #passTo(sequence: number): void {
    const { tail } = this.#parts;
    for (let next = tail.after(this.#place); next && next.frame.sequence < sequence; next = tail.after(this.#place)) {
      if (this.#wants(next.frame) === 'yes') this.#sendLive(next);
      this.#place = next.frame.sequence;
    }
  }
}
