// Who asks for control, who has lent it, and who types: told to those members who want to know. Knows no log, no terminal and no socket.
import { Fault } from '../errors.js';
import type { PresenceAct } from '../protocol/names.js';
import type { PresenceState } from '../protocol/presence.js';
import type { Attached, Roster } from './roster.js';

/** Milliseconds after which one may ask again without having been answered: each asking is told to all. */
const ASK_AGAIN_MS = 1000;
/** Milliseconds between two tellings that somebody types. */
const TYPING_EVERY_MS = 1000;

export class Presence {
  readonly #roster: Roster;
  /** Observers, the first to ask first: never more than are attached. */
  readonly #asking = new Set<string>();
  /** When each has asked last, in milliseconds of the process. */
  readonly #askedAt = new Map<string, number>();
  #lent: { readonly by: string; readonly to: string } | undefined;
  /** When it was told that somebody types, in milliseconds of the process. */
  #typedAt = Number.NEGATIVE_INFINITY;

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

  /** To be called after roles or members have changed: what is past is forgotten. */
  rolesChanged(): void {
    const before = this.#signature();
    for (const id of this.#askedAt.keys()) if (!this.#roster.get(id)) this.#askedAt.delete(id);
    for (const id of this.#asking) if (this.#roster.get(id)?.role !== 'observer') this.#asking.delete(id);
    const { by, to } = this.#lent ?? {};
    if (by !== undefined && to !== undefined && !(this.#roster.get(by)?.role === 'observer' && this.#roster.isController(to)))
      this.#lent = undefined;
    if (this.#signature() !== before) this.#tell();
  }

  /** One who has come learns how things are. */
  greet(clientId: string): void {
    const member = this.#roster.get(clientId);
    if (member?.hearsPresence && (this.#asking.size > 0 || this.#lent)) member.member.tell?.(this.#state());
  }

  /** With each input: cheap, and told at most once in TYPING_EVERY_MS. */
  typed(clientId: string, now = performance.now()): void {
    if (now - this.#typedAt < TYPING_EVERY_MS) return;
    this.#typedAt = now;
    this.#tell(clientId);
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
      this.#lent = { by: clientId, to };
      return changed;
    },
    take_back: (clientId) => {
      if (this.#lent?.by !== clientId) throw new Fault('PERMISSION_DENIED', 'take_back: this connection has lent control to nobody');
      const changed = this.#roster.passControl(this.#lent.to, clientId);
      this.#lent = undefined;
      return changed;
    },
  };

  #mayAskAgain(clientId: string, now = performance.now()): void {
    if (now - (this.#askedAt.get(clientId) ?? Number.NEGATIVE_INFINITY) < ASK_AGAIN_MS)
      throw new Fault('RATE_LIMITED', 'ask: this connection has just asked for control; try again in a second');
    this.#askedAt.set(clientId, now);
  }

  /** The one that a controller speaks of, who is asking; who is answered may ask again. */
  #demandAsking(clientId: string, target: string | undefined): string {
    if (!this.#roster.isController(clientId)) throw new Fault('PERMISSION_DENIED', 'only a controller answers those who ask for control');
    if (target === undefined || !this.#asking.has(target))
      throw new Fault('INVALID_REQUEST', 'payload.client_id: expected one who is asking for control', { status: 404 });
    this.#askedAt.delete(target);
    return target;
  }

  #state(typing?: string): PresenceState {
    return { asking: [...this.#asking], ...(this.#lent && { lent_by: this.#lent.by }), ...(typing !== undefined && { typing }) };
  }

  #signature(): string {
    return JSON.stringify([[...this.#asking], this.#lent]);
  }

  /** Who types knows it. */
  #tell(typing?: string): void {
    const state = this.#state(typing);
    for (const { clientId, hearsPresence, member } of this.#roster.all()) if (hearsPresence && clientId !== typing) member.tell?.(state);
  }
}
