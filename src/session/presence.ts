// Who asks for control, who has lent it, and who types: told to those members who want to know. Knows no log, no terminal and no socket.
import { Fault } from '../errors.js';
import type { PresenceAct } from '../protocol/names.js';
import type { PresenceState } from '../protocol/presence.js';
import type { Attached, Roster } from './roster.js';

/** Milliseconds between two askings of one, and how many come at once after a pause; whatever the answers were: each asking is told to all. */
const ASK_EVERY_MS = 1000;
const ASKS_AT_ONCE = 2;
/** Milliseconds between two tellings that somebody types. */
const TYPING_EVERY_MS = 1000;

type Typist = Pick<PresenceState, 'typing' | 'message_from'>;

export class Presence {
  readonly #roster: Roster;
  /** Observers, the first to ask first: never more than are attached. */
  readonly #asking = new Set<string>();
  /** When what each has asked is past, an asking each ASK_EVERY_MS; in milliseconds of the process. */
  readonly #askedUntil = new Map<string, number>();
  /** By who has lent control: who has it. */
  readonly #loans = new Map<string, string>();
  /** When it was last told of each that they type, and of messages, in milliseconds of the process. */
  readonly #typedAt = new Map<string, number>();
  #messageAt = Number.NEGATIVE_INFINITY;

  constructor(roster: Roster) {
    this.#roster = roster;
  }

  /** Does what a member asks (presence §3); returns whose role has changed. `target` is whom `grant` and `decline` are about. */
  act(clientId: string, act: PresenceAct, target: string | undefined): readonly Attached[] {
    const before = this.#signature();
    const changed = this.#acts[act](clientId, target);
    if (this.#signature() !== before) this.#tell();
    return changed;
  }

  /**
   * Control that is free goes to those who ask, the first first: who comes later does not find it (presence §3). Returns who has it now; to be called
   * whenever it may be free, before anybody is told of roles.
   */
  heirs(): readonly Attached[] {
    const heirs: Attached[] = [];
    for (const clientId of this.#asking) {
      const asking = this.#roster.get(clientId);
      if (!this.#roster.isControlFree) break;
      if (asking && this.#roster.request(clientId, 'controller').changed) heirs.push(asking);
    }
    return heirs;
  }

  /** To be called after roles or members have changed: what is past is forgotten. */
  rolesChanged(): void {
    const before = this.#signature();
    for (const times of [this.#askedUntil, this.#typedAt]) for (const id of times.keys()) if (!this.#roster.get(id)) times.delete(id);
    for (const id of this.#asking) if (this.#roster.get(id)?.role !== 'observer') this.#asking.delete(id);
    for (const [by, to] of this.#loans)
      if (this.#roster.get(by)?.role !== 'observer' || !this.#roster.isController(to)) this.#loans.delete(by);
    if (this.#signature() !== before) this.#tell();
  }

  /** One who has come learns how things are. */
  greet(clientId: string): void {
    const member = this.#roster.get(clientId);
    if (member?.hearsPresence && (this.#asking.size > 0 || this.#loans.size > 0)) member.member.tell?.(this.#state());
  }

  /** The members come from another replica, and what they asked there is forgotten: they learn it. */
  anew(): void {
    this.#tell();
  }

  /** With each input: cheap, and told of each at most once in TYPING_EVERY_MS. */
  typed(clientId: string, now = performance.now()): void {
    if (now - (this.#typedAt.get(clientId) ?? Number.NEGATIVE_INFINITY) < TYPING_EVERY_MS) return;
    this.#typedAt.set(clientId, now);
    this.#tell({ typing: clientId });
  }

  /** A message of this principal is typed, who is no member: told at most once in TYPING_EVERY_MS. */
  messageFrom(principal: string, now = performance.now()): void {
    if (now - this.#messageAt < TYPING_EVERY_MS) return;
    this.#messageAt = now;
    this.#tell({ message_from: principal });
  }

  readonly #acts: Readonly<Record<PresenceAct, (clientId: string, target: string | undefined) => readonly Attached[]>> = {
    ask: (clientId) => {
      const asking = this.#roster.get(clientId);
      if (asking?.role !== 'observer' || !asking.mayControl) throw new Fault('PERMISSION_DENIED', 'ask: for observers with pty:control');
      if (!this.#asking.has(clientId)) this.#mayAskAgain(clientId);
      this.#asking.add(clientId);
      return [];
    },
    withdraw: (clientId) => {
      this.#asking.delete(clientId);
      return [];
    },
    decline: (clientId, target) => {
      this.#asking.delete(this.#demandAsking(clientId, target));
      return [];
    },
    grant: (clientId, target) => {
      const to = this.#demandAsking(clientId, target);
      const changed = this.#roster.passControl(clientId, to);
      this.#asking.delete(to);
      this.#loans.set(clientId, to);
      return changed;
    },
    take_back: (clientId) => {
      const to = this.#loans.get(clientId);
      if (to === undefined) throw new Fault('PERMISSION_DENIED', 'take_back: this connection has lent control to nobody');
      const changed = this.#roster.passControl(to, clientId);
      this.#loans.delete(clientId);
      return changed;
    },
  };

  #mayAskAgain(clientId: string, now = performance.now()): void {
    const until = Math.max(now, this.#askedUntil.get(clientId) ?? now) + ASK_EVERY_MS;
    if (until - now > ASKS_AT_ONCE * ASK_EVERY_MS)
      throw new Fault('RATE_LIMITED', 'ask: this connection has just asked for control; try again in a second');
    this.#askedUntil.set(clientId, until);
  }

  /** The one that a controller speaks of, who is asking. */
  #demandAsking(clientId: string, target: string | undefined): string {
    if (!this.#roster.isController(clientId)) throw new Fault('PERMISSION_DENIED', 'only a controller answers those who ask for control');
    if (target === undefined || !this.#asking.has(target))
      throw new Fault('INVALID_REQUEST', 'payload.client_id: expected one who is asking for control', { status: 404 });
    return target;
  }

  #state(typist: Typist = {}): PresenceState {
    const lent_by = [...this.#loans.keys()];
    return { asking: [...this.#asking], ...(lent_by.length > 0 && { lent_by }), ...typist };
  }

  #signature(): string {
    return JSON.stringify([[...this.#asking], [...this.#loans]]);
  }

  /** Who types knows it. */
  #tell(typist: Typist = {}): void {
    const state = this.#state(typist);
    for (const { clientId, hearsPresence, member } of this.#roster.all())
      if (hearsPresence && clientId !== typist.typing) member.tell?.(state);
  }
}
