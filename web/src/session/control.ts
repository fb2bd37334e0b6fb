// Who is in a session and who of them has control, in a person's words. Pure: knows no view and no connection.

import { may, type Principal } from '../../../src/access/principal.js';
import type { Members } from '../../../src/client/index.js';
import type { MemberRef, Role } from '../../../src/protocol/frames.js';

/** A session as one window sees it. */
export interface Standing {
  readonly members: Members;
  /** The connection that this window has now. */
  readonly self: string | undefined;
  /** Those that it had before: the gateway may not know yet that they are gone. */
  readonly former: readonly string[];
  /** How many may have control at a time. */
  readonly maxControllers: number;
}

export interface Person {
  readonly clientId: string;
  readonly name: string;
  /** `former` is this window before its connection was cut. */
  readonly who: 'you' | 'former' | 'other';
  readonly role: Role;
}

/** Controllers first. People of one name are told apart by numbers, the oldest connection first (ids are in the order of time). */
export function peopleIn({ members, self, former }: Standing): Person[] {
  const { controllers, observers } = members;
  const oldest = [...controllers, ...observers].sort((a, b) => (a.client_id < b.client_id ? -1 : 1));
  const namesakes = (ref: MemberRef) => oldest.filter((other) => called(other) === called(ref));
  const nameOf = (ref: MemberRef) => (namesakes(ref).length > 1 ? `${called(ref)} ${namesakes(ref).indexOf(ref) + 1}` : called(ref));
  const who = (id: string): Person['who'] => (id === self ? 'you' : former.includes(id) ? 'former' : 'other');
  const person = (role: Role) => (ref: MemberRef) => ({ clientId: ref.client_id, name: nameOf(ref), who: who(ref.client_id), role });
  return [...controllers.map(person('controller')), ...observers.map(person('observer'))];
}

/** Who has control, by name; undefined if nobody has. */
export function holders(standing: Standing): string | undefined {
  const names = peopleIn(standing)
    .filter(({ role }) => role === 'controller')
    .map(inWords);
  return names.length === 0 ? undefined : names.join(' and ');
}

/** What the button for control is to be. */
export interface Offer {
  readonly act: 'give up' | 'take' | 'take over' | 'none';
  readonly text: string;
  readonly hint: string;
}

/** Undefined for a token that can only watch. */
export function offerOf(standing: Standing, role: Role, principal: Principal): Offer | undefined {
  if (role === 'controller') return { act: 'give up', text: 'Give up control', hint: 'You go on watching' };
  if (!may(principal, 'pty:control')) return undefined;
  const held = holders(standing);
  if (held === undefined || standing.members.controllers.length < standing.maxControllers) {
    return { act: 'take', text: 'Take control', hint: 'Nobody has it' };
  }
  const hint = `${held} has control`;
  if (may(principal, 'pty:admin')) return { act: 'take over', text: 'Take control', hint };
  return { act: 'none', text: hint, hint: `${hint}; only they, or someone with pty:admin, can hand it over` };
}

/** What changed about control, for one who looked before; undefined if nothing did. */
export function newsOf(before: Standing, now: Standing): string | undefined {
  const had = ids(before);
  const has = ids(now);
  if (had.length === has.length && had.every((id) => has.includes(id))) return undefined;
  const mine = (all: readonly string[]) => now.self !== undefined && all.includes(now.self);
  if (mine(has) && !mine(had)) return 'You have control now.';
  if (has.length === 0) return mine(had) ? 'You gave up control. Nobody has it now.' : 'Nobody has control now.';
  const lost = mine(had) && !mine(has) ? ', and you watch' : '';
  return `${holders(now)} has control now${lost}.`;
}

/** Why nothing happens when one types. */
export function whyDeaf(standing: Standing, principal: Principal): string {
  if (!may(principal, 'pty:control')) return 'You are watching: your token does not let you type.';
  const held = holders(standing);
  return held === undefined ? 'Nobody has control: take it to type.' : `You are watching. ${held} has control.`;
}

const ids = ({ members }: Standing) => members.controllers.map(({ client_id }) => client_id);
const called = (ref: MemberRef) => ref.label || `Client ${ref.client_id.slice(-4)}`;
const inWords = ({ name, who }: Person) =>
  who === 'former' ? 'Your connection from before the cut' : who === 'you' ? 'This window' : name;
