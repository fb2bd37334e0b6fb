// A terminal session, shared and kept: joins, joins again from its place after every cut, and gives all that can be asked a method.
// Knows no screen and no WebSocket library.
import { Fault } from '../errors.js';
import type { Closed, Role } from '../protocol/frames.js';
import { EXTENSION_URI, PRESENCE_URI, type PresenceAct, type Subprotocol } from '../protocol/names.js';
import type { PresenceState } from '../protocol/presence.js';
import type { Hello, RequestOptions } from './connection.js';
import { Emitter } from './emitter.js';
import { ClientEnded } from './ended.js';
import { Frames, type FramesOptions } from './frames.js';
import { Lease } from './lease.js';
import { type Ended, Link, type State, type TokenSource } from './link.js';
import type { Payload, Task } from './messages.js';
import { defaultHeartbeat, type Heartbeat } from './pulse.js';
import { type Assigned, type ClientEvents, type Members, Receiver, type Size } from './receiver.js';
import type { Retry } from './retry.js';
import type { Dial } from './socket.js';
import { type OutgoingMessage, type Request, Tasks, type Waiting } from './tasks.js';
import { Typist } from './typist.js';
import { unless } from './unless.js';

/** How long the gateway may take to say goodbye to one who leaves, in milliseconds. */
const LEAVE_MS = 5000;

export interface ClientOptions {
  /** Of the attachment: `ws(s)://host/agents/{instance}/sessions/{session}/attach`, as `pty_ws_url` says it. */
  readonly url: string;
  readonly token?: TokenSource;
  /** Asked for at every join; the gateway decides (pty-ext §5.1). Default `observer`. */
  readonly role?: Role;
  /** Shown to the others; at most 128 characters. */
  readonly label?: string;
  /** The size of this window: it becomes the session's whenever this client has control. 1…1024 each. */
  readonly size?: Size;
  /** Default `pty-ws.v1.binary`. */
  readonly subprotocol?: Subprotocol;
  /** The last number that is on the screen already, or 0 for all that is kept. Without it, a Keyframe comes first and no past. */
  readonly replayFrom?: number;
  /** `false`: the first end of the connection is the end. */
  readonly reconnect?: false | Partial<Retry>;
  /** When a network that is frozen is taken for lost. Default: 10 s of silence until a ping, and 10 s more. */
  readonly heartbeat?: Partial<Heartbeat>;
  /** Tells by `presence` who asks for control and who types, and lets one ask: `act` (presence §1). Default false. */
  readonly presence?: boolean;
  /** Goes with the task events of this connection (pty-ws §9). */
  readonly serviceParameters?: Payload;
  /** Stops the client, as `close` does. */
  readonly signal?: AbortSignal;
}

export class TerminalClient {
  readonly #options: ClientOptions;
  readonly #events = new Emitter<ClientEvents>();
  readonly #receiver: Receiver;
  readonly #lease: Lease;
  readonly #link: Link;
  #size: Size | undefined;
  #hello: Hello | undefined;
  #joinId: string | undefined;
  #keyframeWanted = false;
  /** Readers that have enough for now. */
  readonly #holding = new Set<object>();
  readonly #typist: Typist;
  #isLeaving = false;
  /** The session as a task (A2A). */
  readonly tasks: Tasks;
  /** How it ended; never rejects. */
  readonly ended: Promise<Ended>;

  constructor(options: ClientOptions, dial: Dial, retry: Retry, subprotocol: Subprotocol) {
    this.#options = options;
    this.#size = options.size;
    this.#lease = new Lease(options.role ?? 'observer');
    const assigned = (role: Assigned, joining: boolean) => this.#assigned(role, joining);
    this.#receiver = new Receiver(this.#events, { live: () => this.#live(), assigned }, options.replayFrom);
    this.#link = new Link(
      {
        dial,
        target: { url: options.url, subprotocol },
        token: options.token,
        retry,
        heartbeat: { ...defaultHeartbeat, ...options.heartbeat },
      },
      {
        hello: (hello) => this.#join(hello),
        frame: (sequence, frame) => this.#receiver.take(sequence, frame),
        told: (op, payload) => this.#told(op, payload),
        fault: (fault, id) => this.#fault(fault, id),
        lost: () => this.#lost(),
        state: (state) => this.#events.emit('state', state),
      },
    );
    const request: Request = (...args) => this.request(...args);
    this.tasks = new Tasks(request, this.#receiver, this.#events, () => this.#hello?.session.session_id ?? '');
    this.#typist = new Typist({
      joined: () => this.#inSession(),
      input: (bytes) => this.input(bytes),
      read: (waiting, answered) => this.#read({ ...waiting, answered }),
    });
    this.ended = new Promise((resolve) => this.on('state', (state) => state.name === 'ended' && resolve(state)));
    this.on('members', (members) => this.#takeBack(members));
    this.#followTheWorld(options.signal);
    // Not before whoever made this client could listen to it.
    queueMicrotask(() => void this.#link.connect());
  }

  /** Listens to an event; the returned function stops it. */
  on<Name extends keyof ClientEvents>(name: Name, listener: ClientEvents[Name]): () => void {
    return this.#events.on(name, listener);
  }

  get state(): State {
    return this.#link.state;
  }

  /** The role on this connection; undefined before it has joined. */
  get role(): Role | undefined {
    return this.#receiver.joined ? this.#receiver.assigned?.role : undefined;
  }

  /** Of this connection: another after each reconnect. */
  get clientId(): string | undefined {
    return this.#receiver.assigned?.clientId;
  }

  get members(): Members {
    return this.#receiver.members;
  }

  /** The session's size, in cells; undefined until it is known. */
  get size(): Size | undefined {
    return this.#receiver.size;
  }

  /** Set when the session is over. */
  get closed(): Closed | undefined {
    return this.#receiver.closed;
  }

  /** The last number that is on the screen: `replayFrom` of a client that goes on from here. */
  get position(): number | undefined {
    return this.#receiver.position;
  }

  /**
   * Types at once (pty-ext §6.3). False if this client is not in the session now, or only watches: then nothing was sent, and nothing is kept for later,
   * since nobody types blindly. True says that it was sent, not that it arrived: a connection may be lost on the way, and what the gateway refuses
   * comes as `error`. Who must know uses `type`.
   */
  input(data: Uint8Array | string): boolean {
    if (this.role !== 'controller' || this.#isLeaving) return false;
    this.#link.connection?.input(bytesOf(data));
    return true;
  }

  /**
   * Types (pty-ext §6.3), in the order of the calls, as soon as this client is in the session; resolves when the gateway has read it. Rejects with a Fault:
   * PERMISSION_DENIED if this client only watches then, or with what else the gateway refused by then; RATE_LIMITED if more than 4 MiB wait already;
   * a retryable INTERNAL if the connection was lost first, and nobody knows how much arrived: it is not typed again. Rejects with ClientEnded, or the
   * reason of the signal; what was sent before that stays typed.
   */
  async type(data: Uint8Array | string, waiting: Waiting = {}): Promise<void> {
    await this.#typist.type(bytesOf(data), waiting);
  }

  /** This window has another size: the session follows as long as this client has control, and whenever it gets it (pty-ext §6.4). */
  resize(size: Size): void {
    this.#size = size;
    if (this.role === 'controller') this.#link.connection?.send('pty.session_resize', { ...size });
  }

  /** Resolves when all that was missed is there; at once if it is. Rejects with ClientEnded if the client ends before. */
  async live({ signal }: Waiting = {}): Promise<void> {
    if (this.state.name === 'live') return;
    let stop = () => {};
    const live = new Promise<void>((resolve) => {
      stop = this.on('state', ({ name }) => name === 'live' && resolve());
    });
    await this.#unlessEnded(unless(signal, live)).finally(() => stop());
  }

  /**
   * The screen's frames from now on, for a reader that takes its time: `for await (const frame of client.frames())`. What waits for it is bounded;
   * the iteration ends with the client.
   */
  frames(options: FramesOptions = {}): Frames {
    const reader = {};
    const hold = (on: boolean) => {
      if (on) this.#holding.add(reader);
      else this.#holding.delete(reader);
      this.#link.hold(this.#holding.size > 0);
    };
    const on: TerminalClient['on'] = (name, listener) => this.on(name, listener);
    return new Frames({ on, hold, requestKeyframe: () => this.requestKeyframe(), ended: this.ended }, options);
  }

  /** Asks for a role, or gives control back (pty-ext §5.2). Resolves with what was given; rejects with a Fault. */
  async requestRole(role: Role, options: Waiting = {}): Promise<Assigned> {
    await this.request('pty.request_role', { role }, options);
    return this.#receiver.assigned as Assigned;
  }

  /**
   * Asks those who have control for it, or answers one who asks (presence §3); `clientId` is whom `grant` and `decline` are about. Rejects with the Fault
   * of a gateway that lets this client not, or knows nothing of it.
   */
  async act(act: PresenceAct, clientId?: string, options: Waiting = {}): Promise<void> {
    await this.request('presence.act', { act, ...(clientId !== undefined && { client_id: clientId }) }, options);
  }

  /** A `keyframe` that must be written follows within about a second (pty-ext §6.6), after a reconnect if there is no connection now. */
  requestKeyframe(): void {
    this.#receiver.askForKeyframe();
    this.#keyframeWanted = !this.#receiver.joined;
    if (this.#receiver.joined) this.#link.connection?.send('pty.request_keyframe', {});
  }

  /** Leaves in order; the session goes on (pty-ext §6.2). Resolves when it is done. */
  async leave({ signal }: Waiting = {}): Promise<Ended> {
    signal?.throwIfAborted();
    this.#isLeaving = true;
    if (!this.#receiver.joined) this.#link.end('left', 'left');
    this.#link.connection?.send('pty.leave_session', {});
    this.#link.hold(false);
    const timer = setTimeout(() => this.#link.end('left', 'left; the gateway did not confirm it'), LEAVE_MS);
    return unless(
      signal,
      this.ended.finally(() => clearTimeout(timer)),
    );
  }

  /** Stops at once. */
  close(): void {
    this.#link.end('stopped', 'stopped by this client');
  }

  /** Tries to connect now instead of waiting on. */
  retryNow(): void {
    if (this.state.name === 'waiting') void this.#link.connect();
  }

  /** Any operation of the binding: resolves with the answer's payload, rejects with a Fault (pty-ws §4, §6) or the reason of the signal. */
  request(op: string, payload: Payload = {}, options: RequestOptions = {}): Promise<Payload> {
    const { connection } = this.#link;
    if (!connection || !this.#hello) return Promise.reject(new Fault('INTERNAL', 'there is no connection now', { retryable: true }));
    return connection.request(op, payload, options);
  }

  /** Resolves when the gateway has read all that was typed before: who types much from a file waits for it now and then. */
  async typed(options: Waiting = {}): Promise<void> {
    await this.#read(options);
  }

  /** Types a message and Enter; resolves with the task when it rests. All of A2A is under `tasks`. */
  send(message: OutgoingMessage, options: Waiting = {}): Promise<Task> {
    return this.tasks.send(message, options);
  }

  /** Replaces what goes with the task events of this connection (pty-ws §9). */
  async updateServiceParameters(parameters: Payload, options: Waiting = {}): Promise<void> {
    await this.request('UpdateServiceParameters', { service_parameters: parameters }, options);
  }

  async #read(options: RequestOptions): Promise<void> {
    await this.request('ping', {}, options).catch((error: unknown) => {
      throw this.state.name === 'ended' ? new ClientEnded(this.state) : error;
    });
  }

  async #inSession(): Promise<void> {
    if (this.state.name !== 'ended' && this.role !== undefined) return;
    let stop = () => {};
    const joined = new Promise<void>((resolve) => {
      stop = this.on('role', () => resolve());
    });
    await this.#unlessEnded(joined).finally(() => stop());
  }

  /** Rejects with ClientEnded if the client ends, or has ended, before. */
  async #unlessEnded(what: Promise<void>): Promise<void> {
    const end = await Promise.race([what, this.ended]);
    if (end) throw new ClientEnded(end);
  }

  #join(hello: Hello): void {
    this.#hello = hello;
    this.#receiver.begin();
    const { label, presence, serviceParameters } = this.#options;
    const { position } = this.#receiver;
    const payload = { role: this.#lease.wanted, ...this.#size, ...(label !== undefined && { client_label: label }) };
    this.#joinId = this.#link.connection?.send('pty.join_session', payload, {
      extensions: [EXTENSION_URI, ...(presence ? [PRESENCE_URI] : [])],
      ...(position !== undefined && { replay_from: position }),
      ...(serviceParameters && { service_parameters: serviceParameters }),
    });
  }

  #assigned(assigned: Assigned, joining: boolean): void {
    this.#lease.assigned(assigned, joining);
    if (!joining) this.#link.connection?.answerOldest('pty.request_role', {});
    if (assigned.role === 'controller' && this.#size) this.resize(this.#size);
  }

  #live(): void {
    this.tasks.resume();
    if (this.#keyframeWanted) this.requestKeyframe();
    this.#link.live();
  }

  #lost(): void {
    if (this.#receiver.joined) this.#lease.cut(this.#receiver.assigned);
    this.#hello = undefined;
    this.#receiver.lost();
    if (this.#options.presence) this.#events.emit('presence', { asking: [] });
  }

  #told(op: string, payload: Payload): void {
    if (op === 'presence.state') this.#events.emit('presence', payload as PresenceState);
  }

  #takeBack(members: Members): void {
    if (this.role !== 'observer' || !this.#lease.mayTakeBack(members)) return;
    this.requestRole('controller').catch((fault: Fault) => this.#events.emit('error', fault));
  }

  #fault(fault: Fault, requestId: string | undefined): void {
    if (fault.code === 'REPLAY_OUT_OF_RANGE') this.#receiver.outOfRange(fault.message);
    else this.#refused(fault, requestId);
  }

  /** A join that was refused for good leaves nothing to wait for; one that may succeed later is tried again as after a cut. */
  #refused(fault: Fault, requestId: string | undefined): void {
    this.#typist.refused(fault);
    this.#events.emit('error', fault);
    if (requestId !== this.#joinId) return;
    if (fault.retryable) this.#link.connection?.drop(fault.message);
    else this.#link.end('refused', fault.message);
  }

  #followTheWorld(signal: AbortSignal | undefined): void {
    const stop = () => this.close();
    const online = () => this.retryNow();
    const world = globalThis as { addEventListener?: typeof EventTarget.prototype.addEventListener } & Partial<EventTarget>;
    signal?.addEventListener('abort', stop);
    world.addEventListener?.('online', online);
    void this.ended.then(() => {
      signal?.removeEventListener('abort', stop);
      world.removeEventListener?.('online', online);
    });
    if (signal?.aborted) queueMicrotask(stop);
  }
}

const bytesOf = (data: Uint8Array | string): Uint8Array => (typeof data === 'string' ? new TextEncoder().encode(data) : data);
