// One connection, from its hello to its goodbye. Knows no HTTP; what a verb may do is told by dispatch, what is sent when by its cursor.
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { UpdateStream } from '../a2a/websocket-operations.js';
import { may, type Principal } from '../access/principal.js';
import type { Validity } from '../access/validity.js';
import type { AuditEvent, AuditLine } from '../audit/audit.js';
import { asFault, closeCode, Fault, type GoodbyeReason } from '../errors.js';
import { type Meter, secondsSince } from '../metrics/meter.js';
import type { ClientEnvelope } from '../protocol/envelope.js';
import type { Frame, Role } from '../protocol/frames.js';
import { hello } from '../protocol/hello.js';
import { readPayload } from '../protocol/make-frames.js';
import { BINARY_SUBPROTOCOL, PRESENCE_URI, type Subprotocol } from '../protocol/names.js';
import type { PresenceState } from '../protocol/presence.js';
import type { Payload } from '../protocol/verbs.js';
import type { Author, Delivery, Joined, Member, Session } from '../session/session.js';
import { around, type Tracing, untraced } from '../tracing/tracing.js';
import { Account, type Tellers } from './account.js';
import { Activation } from './activation.js';
import { Attribution } from './attribution.js';
import type { Connections, Farewell, Traffic } from './connections.js';
import { Cursor } from './cursor.js';
import { Dialect, type Legacy } from './dialect.js';
import { type Caller, isTraced, isTurn, perform, performInput } from './dispatch.js';
import type { Heartbeat, Peer } from './heartbeat.js';
import { Inbox } from './inbox.js';
import { joinRequest } from './join-request.js';
import { resume } from './legacy-replay.js';
import { LAST_WORDS_MS, LATE_JOIN_MS } from './limits.js';
import { Outlet } from './outlet.js';
import { Pace } from './pace.js';
import type { Tails } from './tail.js';
import { Typing } from './typing.js';
import { Updates } from './updates.js';

/** What all connections of this process share. */
export interface Attachments extends Tellers {
  readonly tails: Tails;
  readonly heartbeat: Heartbeat;
  /** Milliseconds in which a client has to send its first frame. */
  readonly firstFrameMs: number;
  readonly connections: Connections;
  readonly validity: Pick<Validity, 'watch'>;
  readonly meter: Meter;
  /** Absent: nothing is traced. */
  readonly tracing?: Tracing | undefined;
}

/** An upgrade that was granted. */
export interface Upgraded {
  readonly ws: WebSocket;
  /** The socket below. */
  readonly socket: Duplex;
  readonly session: Session;
  readonly principal: Principal;
  readonly address: string;
  readonly subprotocol: Subprotocol;
  /** The `traceparent` that its verbs continue, unless the client names another. */
  readonly trace?: string | undefined;
  /** URIs that the upgrade request named. */
  readonly extensions: readonly string[];
  readonly legacy: Legacy;
  /** Of a legacy client's URL: exclusive; undefined replays nothing. */
  readonly replayFrom: number | undefined;
}

export class Connection implements Caller, Member, Farewell, Peer {
  readonly session: Session;
  readonly principal: Principal;
  readonly closed: Promise<void>;
  readonly #ws: WebSocket;
  readonly #socket: Duplex;
  readonly #shared: Attachments;
  readonly #account: Account;
  readonly #outlet: Outlet;
  readonly #updates = new Updates();
  readonly #gone = new AbortController();
  readonly #cursor: Cursor;
  readonly #inbox: Inbox;
  readonly #pace: Pace;
  readonly #typing = new Typing(({ bytes, answerTo }) => this.#input(bytes, answerTo));
  readonly #attribution = new Attribution();
  #serviceParameters: Readonly<Record<string, unknown>> | undefined;
  #hasBegun = false;
  readonly #activation: Activation;
  #hasAskedToJoin = false;
  #clientId: string | undefined;
  #role: Role | undefined;
  /** What comes before the join of a legacy client. */
  #resuming: Promise<void> | undefined;
  #departure: Promise<number | undefined> | undefined;
  /** What was asked last, and what was refused last, for the log. */
  #lastOp: string | undefined;
  #lastRefusal: string | undefined;
  /** Waits for room on the socket. */
  #untold: PresenceState | undefined;

  constructor(shared: Attachments, upgraded: Upgraded) {
    const { ws, socket, session, principal, address, trace, subprotocol, extensions, legacy, replayFrom } = upgraded;
    const dialect = new Dialect(legacy);
    const isBinary = subprotocol === BINARY_SUBPROTOCOL;
    this.session = session;
    this.principal = principal;
    this.#shared = shared;
    this.#ws = ws;
    this.#socket = socket;
    this.#account = new Account(shared, { session, principal, address, trace }, this);
    this.#activation = new Activation(extensions);
    const { meter } = shared;
    const refused = ({ code }: Fault) => {
      this.#lastRefusal = code;
      meter.count('refusals_total', 1, { face: 'websocket', code });
    };
    this.#outlet = new Outlet(ws, socket, dialect, () => this.#drained(), refused);
    this.#cursor = new Cursor({
      reader: session.frames,
      tail: shared.tails.take(session.id, session.frames),
      outlet: this.#outlet,
      updates: this.#updates,
      isBinary,
      serviceParameters: () => this.#serviceParameters,
      // Who only watches now may have control when its terminal answers.
      sent: may(principal, 'pty:control') ? (frame, live) => this.#typing.sent(frame, live) : () => {},
      meter,
      events: {
        lagged: () => this.#reportLag(),
        outdated: () => void this.#askForKeyframe(),
        closed: () => void this.#endWithSession(),
        failed: (fault) => this.#breakOff(fault),
      },
    });
    this.#inbox = new Inbox(this.#outlet, dialect, isBinary, {
      request: (envelope, reply) => this.#request(envelope, reply),
      input: (bytes) => {
        this.#lastOp = 'input';
        return performInput(this, bytes);
      },
      isTurn,
      flooded: () => this.#sendFlooderAway(),
      crowded: (isCrowded) => this.#pace.crowded(isCrowded),
      broken: (fault) => this.#account.complain(fault, 'a request failed'),
    });
    this.#pace = new Pace({
      hold: () => ws.pause(),
      goOn: () => ws.resume(),
      held: (cause, seconds) => meter.count('held_back_seconds_total', seconds, { cause }),
      heldLong: (cause) => shared.logger.warn({ ...this.#sender, cause }, 'a connection is held back: it sends more than it may'),
      flooded: () => this.#sendFlooderAway(),
    });
    this.closed = new Promise((resolve) => ws.once('close', () => resolve()));
    ws.once('close', () => this.#gone.abort());
    this.#account.record('attach', 'done', `connected as ${subprotocol}`);
    this.#listen();
    this.#greet(subprotocol);
    if (replayFrom !== undefined) this.#resuming = this.#resume(replayFrom);
    else this.#awaitFirstFrame();
  }

  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  hasActivated(extension: string): boolean {
    return this.#activation.has(extension);
  }

  get clientId(): string | undefined {
    return this.#clientId;
  }

  get role(): Role | undefined {
    return this.#role;
  }

  get lag(): number {
    return this.#cursor.lag;
  }

  get waitingBytes(): number {
    return this.#outlet.waitingBytes;
  }

  get traffic(): Traffic {
    const { bytesRead = 0, bytesWritten = 0 } = this.#socket as Partial<Socket>;
    const { sentFrames } = this.#outlet;
    return { receivedFrames: this.#inbox.receivedFrames, receivedBytes: bytesRead, sentFrames, sentBytes: bytesWritten };
  }

  get serviceParameters(): Readonly<Record<string, unknown>> | undefined {
    return this.#serviceParameters;
  }

  /** A controller types under its own name, anyone else needs a free lease. */
  get author(): Author {
    return this.#clientId !== undefined && this.#role === 'controller' ? { clientId: this.#clientId } : 'message';
  }

  record(event: AuditEvent, outcome: AuditLine['outcome'], detail?: string): void {
    this.#account.record(event, outcome, detail);
  }

  setServiceParameters(parameters: Readonly<Record<string, unknown>>): void {
    this.#serviceParameters = parameters;
  }

  async join(payload: Payload<'pty.join_session'>, envelope: ClientEnvelope): Promise<void> {
    const asked = performance.now();
    if (this.#hasAskedToJoin)
      throw new Fault('INVALID_REQUEST', 'pty.join_session: this connection has joined before; attach anew to join again');
    const request = { ...joinRequest(payload, this.principal), hearsPresence: this.hasActivated(PRESENCE_URI) };
    this.#hasAskedToJoin = true;
    if (this.#resuming) await this.#resuming;
    if (!this.#outlet.isOpen) return;
    this.#cursor.hold();
    try {
      this.#welcome(await this.session.join(request, this), envelope, asked);
    } catch (error) {
      this.#hasAskedToJoin = false;
      this.#cursor.release();
      if (asFault(error).code === 'RATE_LIMITED')
        setImmediate(() => this.goodbye('rate_limited', closeCode.rateLimited, 'observers are full'));
      throw error;
    }
  }

  /** The others, and this connection too, learn that it has left; then it is closed (pty-ext §6.2, protocol R11). */
  async leave(): Promise<void> {
    const told = await this.#depart();
    if (told !== undefined) await within(LAST_WORDS_MS, this.#cursor.stopAfter(told));
    this.goodbye('session_closed', closeCode.orderly, 'left');
  }

  /** Who only watches types nothing, so nothing of it has to be told apart. */
  async type(bytes: Uint8Array): Promise<void> {
    await (this.#role === 'controller' ? this.#typing.type(bytes) : this.#input(bytes));
    this.#attribution.typed(bytes.length);
  }

  answered(): void {
    this.#attribution.answered();
  }

  streamUpdates(): UpdateStream {
    return this.#updates.stream(() => this.#cursor.wake());
  }

  async subscribe(replayFrom: number | undefined, accepted: (currentSequence: number) => void): Promise<void> {
    this.#cursor.hold();
    try {
      accepted(this.session.frames.extent().current);
      if (replayFrom !== undefined) await this.#replayUpdates(replayFrom);
    } finally {
      this.#updates.subscribed = true;
      this.#cursor.release();
    }
  }

  unsubscribe(): void {
    this.#updates.subscribed = false;
  }

  deliver(delivery: Delivery): void {
    if (!(delivery.frame instanceof Promise) && delivery.frame.kind === 'RoleAssigned') this.#noteRole(delivery.frame);
    this.#cursor.deliver(delivery);
  }

  /** The newest says all: for one who reads slowly, it takes the place of those before. */
  tell(state: PresenceState): void {
    this.#untold = state;
    this.#tellPresence();
  }

  dismiss(reason: GoodbyeReason, code: number, detail?: string): void {
    this.goodbye(reason, code, detail);
  }

  /** The last frame, then the close frame (pty-ws §5.4). Only the first goodbye counts. */
  goodbye(reason: GoodbyeReason, code: number = closeCode.orderly, detail?: string): void {
    if (!this.#outlet.isOpen) return;
    this.#inbox.close();
    this.#pace.stop();
    this.#cursor.end();
    const last = this.#outlet.codec.goodbye(reason, code, detail);
    if (last.text !== undefined) this.#outlet.text(last.text);
    this.#ws.close(last.code, reason);
  }

  terminate(): void {
    this.#ws.terminate();
  }

  ping(): void {
    if (this.#outlet.isOpen) this.#ws.ping();
  }

  reap(): void {
    this.#shared.meter.count('reaped_connections_total');
    this.#ws.close(closeCode.fault, 'heartbeat');
    this.#ws.terminate();
  }

  #drained(): void {
    this.#cursor.wake();
    this.#tellPresence();
  }

  #tellPresence(): void {
    // Who joins learns first what it is itself.
    if (!this.#untold || this.#clientId === undefined || !this.#outlet.hasRoom) return;
    this.#outlet.message('presence.state', this.#untold);
    this.#untold = undefined;
  }

  #listen(): void {
    const { heartbeat, connections, validity } = this.#shared;
    heartbeat.add(this);
    connections.add(this);
    const unwatch = validity.watch(this.principal, (why) => this.#revoke(why));
    void this.closed.then(unwatch);
    // All bytes count, those of fragments and of frames that say nothing as well.
    this.#socket.on('data', (chunk: Buffer) => this.#pace.bytes(chunk.length));
    for (const sign of ['ping', 'pong', 'message']) this.#ws.on(sign, () => this.#heard());
    this.#ws.on('ping', (data: Buffer) => this.#outlet.pong(data));
    this.#ws.on('message', (data: Buffer, isBinary: boolean) => {
      this.#inbox.receive(data, isBinary);
    });
    this.#ws.once('close', () => this.#cleanUp());
  }

  #heard(): void {
    this.#shared.heartbeat.heard(this);
    this.#pace.frame();
  }

  /** Who connects and says nothing holds a place that others could have. */
  #awaitFirstFrame(): void {
    const timer = setTimeout(() => {
      if (this.#inbox.receivedFrames === 0) this.goodbye('other', closeCode.protocol, 'nothing was asked for in time');
    }, this.#shared.firstFrameMs).unref();
    this.#ws.once('close', () => clearTimeout(timer));
  }

  #greet(subprotocol: Subprotocol): void {
    const greeting = hello({
      sessionId: this.session.id,
      currentSequence: this.session.frames.extent().current,
      activatedExtensions: this.#activation.greeted,
      subprotocol,
    });
    this.#outlet.message('binding_hello', greeting, { sequence: 0 });
  }

  /** Nothing else is sent until it is done. */
  async #resume(replayFrom: number): Promise<void> {
    this.#cursor.hold();
    try {
      const { session } = this;
      const refused = (fault: Fault) => this.#account.replay(replayFrom, fault);
      const resumed = await resume({ session, outlet: this.#outlet, sent: (frame) => this.#typing.sent(frame), refused }, replayFrom);
      if (resumed) this.#account.replay(replayFrom);
      if (resumed === 'over') this.goodbye('session_closed');
      else if (resumed) this.#cursor.resumed(resumed);
      this.#shared.meter.count('replays_total', 1, { outcome: resumed ? 'served' : 'out_of_range' });
    } catch (error) {
      this.#breakOff(asFault(error));
    } finally {
      this.#cursor.release();
    }
  }

  #request(envelope: ClientEnvelope, reply: Parameters<typeof perform>[2]): Promise<void> {
    if (!this.#hasBegun) this.#begin(envelope);
    const { op } = envelope;
    this.#lastOp = op;
    if (!isTraced(op)) return perform(this, envelope, reply);
    const attributes = { 'pty.instance_id': this.session.instanceId, 'pty.session_id': this.session.id, 'enduser.id': this.principal.name };
    const options = { parent: this.#account.traceparent, kind: 'server', attributes } as const;
    return around(this.#shared.tracing ?? untraced, op, options, () => perform(this, envelope, reply));
  }

  /** The first frame alone activates, and brings the parameters of the connection (pty-ws §3). */
  #begin({ extensions, service_parameters }: ClientEnvelope): void {
    this.#hasBegun = true;
    this.#serviceParameters = service_parameters;
    this.#activation.firstFrame(extensions);
  }

  #welcome(joined: Joined, envelope: ClientEnvelope, asked: number): void {
    this.#clientId = joined.clientId;
    this.#role = joined.role;
    this.#account.record('attach', 'granted', this.#attachedAs(joined));
    this.#shared.logger.info({ ...this.#account.who, role: joined.role }, 'client attached');
    if (!this.#outlet.isOpen) {
      void this.#depart();
      return;
    }
    const replayFrom = envelope.replay_from ?? undefined;
    const replayed = (refusal: Fault | undefined) => this.#account.replay(replayFrom, refusal);
    this.#cursor
      .flush(joined, { replayFrom, replayed, requestId: envelope.id, extensions: this.#activation.echoed })
      .then(() => this.#shared.meter.observe('join_seconds', secondsSince(asked)))
      .catch((error) => this.#breakOff(asFault(error)))
      .finally(() => this.#cursor.release());
    this.#tellPresence();
  }

  /** What the role does not tell. */
  #attachedAs({ roleAssigned }: Joined): string | undefined {
    const payload = readPayload(roleAssigned);
    const downgraded = payload.kind === 'RoleAssigned' && payload.downgraded && `not controller: ${payload.reason}`;
    return [this.session.describe().live_stream && 'live stream raw', downgraded].filter(Boolean).join(', ') || undefined;
  }

  async #replayUpdates(replayFrom: number): Promise<void> {
    try {
      await this.#cursor.replayUpdates(replayFrom);
      this.#account.replay(replayFrom);
    } catch (error) {
      this.#account.replay(replayFrom, asFault(error));
      throw error;
    }
  }

  #input(bytes: Uint8Array, answerTo?: readonly number[]): Promise<void> {
    if (this.#clientId === undefined) throw new Fault('PERMISSION_DENIED', 'join the session first');
    return this.session.input({ clientId: this.#clientId }, bytes, answerTo);
  }

  #noteRole(frame: Frame): void {
    const payload = readPayload(frame);
    if (payload.kind !== 'RoleAssigned') return;
    const typed = this.#role === 'controller' ? this.#attribution.take() : undefined;
    this.#role = payload.role;
    this.#account.record(
      'role',
      payload.downgraded ? 'denied' : 'granted',
      [payload.reason, typed].filter(Boolean).join(', ') || undefined,
    );
  }

  async #askForKeyframe(): Promise<void> {
    if (this.#clientId === undefined) return;
    await this.session.requestKeyframe(this.#clientId).catch((error) => this.#breakOff(asFault(error)));
  }

  async #reportLag(): Promise<void> {
    if (this.#clientId === undefined) return;
    this.#shared.meter.count('lagged_clients_total');
    await this.session.lagged(this.#clientId).catch((error) => this.#breakOff(asFault(error)));
  }

  /** Closed was sent: what is being answered is answered, then goodbye. */
  async #endWithSession(): Promise<void> {
    // Who has just come is let in still, as one who comes a moment later would be (protocol R10): the end of its flush leads here again.
    if (!this.#hasAskedToJoin && (await this.#joinsLate())) return;
    await within(LAST_WORDS_MS, this.#inbox.settled());
    this.#cursor.finish();
    this.goodbye('session_closed');
  }

  async #joinsLate(): Promise<boolean> {
    await within(LATE_JOIN_MS, this.closed);
    return this.#hasAskedToJoin;
  }

  /** Whom to ask, and about what. */
  get #sender() {
    return { ...this.#account.sender, last_op: this.#lastOp, last_refusal: this.#lastRefusal };
  }

  /** It was told often enough that it sends too much. */
  #sendFlooderAway(): void {
    if (!this.#outlet.isOpen) return;
    const { meter, logger } = this.#shared;
    meter.count('flooding_connections_total');
    logger.warn(this.#sender, 'a connection was sent away: it went on sending more than it may');
    this.#outlet.error(new Fault('RATE_LIMITED', 'this connection goes on sending more than it may'));
    this.goodbye('rate_limited', closeCode.rateLimited, 'too many frames');
  }

  /** Its token is no longer good (pty-ws §7). */
  #revoke(why: string): void {
    this.#account.record('attach', 'denied', why);
    this.goodbye('principal_revoked', closeCode.authentication, why);
  }

  #breakOff(fault: Fault): void {
    this.#account.complain(fault, 'a connection cannot go on');
    this.goodbye('other', closeCode.fault, fault.message);
  }

  /** The one way out of the session, whatever ended the connection: exactly one leave. Never rejects: who is gone can be told nothing. */
  #depart(): Promise<number | undefined> {
    if (this.#clientId === undefined) return Promise.resolve(undefined);
    if (!this.#departure) {
      this.#account.record('leave', 'done', this.#attribution.take());
      this.#shared.logger.info(this.#account.who, 'client left');
      this.#departure = this.session.leave(this.#clientId).catch((error) => {
        this.#account.complain(asFault(error), 'a member could not leave');
        return undefined;
      });
    }
    return this.#departure;
  }

  #cleanUp(): void {
    this.#typing.stop();
    this.#pace.stop();
    this.#inbox.close();
    this.#cursor.end();
    this.#shared.heartbeat.remove(this);
    this.#shared.tails.release(this.session.id);
    if (this.#clientId === undefined) this.#account.record('leave', 'done', 'without having joined');
    void this.#depart();
  }
}

/** Waits for work, but not for long. */
async function within(boundMs: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const bound = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, boundMs);
  });
  await Promise.race([work, bound]);
  clearTimeout(timer);
}
