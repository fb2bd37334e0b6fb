// Who is in a session and who of them has control, in a person's words. Pure: knows no view and no connection.

import { may, type Principal } from '../../../src/access/principal.js';
import type { Members, PresenceState } from '../../../src/client/index.js';
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
  /** Who asks for control, who has lent it, and who types. */
  readonly presence: PresenceState;
  /** By client id: the numbers of those who are called alike. */
  readonly numbers: Numbers;
}

export interface Person {
  readonly clientId: string;
  readonly name: string;
  /** `former` is this window before its connection was cut. */
  readonly who: 'you' | 'former' | 'other';
  /** `messenger`: not in the session, but a message of theirs is typed. */
  readonly role: Role | 'messenger';
  readonly isTyping: boolean;
  /** Whether they ask for control. */
  readonly asks: boolean;
}

/** Controllers first. */
export function peopleIn({ members, self, former, presence, numbers }: Standing): Person[] {
  const { controllers, observers } = members;
  const names = namesOf([...controllers, ...observers], self, numbers);
  const who = (id: string): Person['who'] => (id === self ? 'you' : former.includes(id) ? 'former' : 'other');
  const person =
    (role: Role) =>
    ({ client_id }: MemberRef): Person => ({
      clientId: client_id,
      name: names.get(client_id) ?? client_id,
      who: who(client_id),
      role,
      isTyping: presence.typing === client_id,
      asks: presence.asking.includes(client_id),
    });
  return [...controllers.map(person('controller')), ...messengers(presence), ...observers.map(person('observer'))];
}

/** Who types without being here. */
function messengers({ message_from: from }: PresenceState): Person[] {
  if (from === undefined) return [];
  const ref = { client_id: from, label: from };
  return [{ clientId: `message:${from}`, name: called(ref), who: 'other', role: 'messenger', isTyping: true, asks: false }];
}

/** By client id. One who is called as this window is, is elsewhere; others of one name are told apart by their numbers. This window has none. */
function namesOf(all: readonly MemberRef[], self: string | undefined, numbers: Numbers): ReadonlyMap<string, string> {
  const mine = all.find(({ client_id }) => client_id === self);
  const others = all.filter((ref) => ref !== mine);
  const plain = (ref: MemberRef) => (mine && called(ref) === called(mine) ? `${called(ref)} (elsewhere)` : called(ref));
  const names = others.map((ref): [string, string] => {
    const isAlone = others.filter((other) => called(other) === called(ref)).length === 1;
    return [ref.client_id, isAlone ? plain(ref) : `${plain(ref)} ${numbers.get(ref.client_id)}`];
  });
  return new Map(mine ? [...names, [mine.client_id, called(mine)]] : names);
}

export type Numbers = ReadonlyMap<string, number>;

/**
 * Numbers for all but this window, each name for itself. Who had one before keeps it, whoever goes; those who come get the least that are free, the oldest
 * connection first (ids are in the order of time): so one who loads the page anew is called as before.
 */
export function numbersOf({ controllers, observers }: Members, self: string | undefined, before: Numbers): Numbers {
  const others = [...controllers, ...observers].filter(({ client_id }) => client_id !== self);
  const numbers = new Map([...before].filter(([id]) => others.some(({ client_id }) => client_id === id)));
  for (const ref of others.sort((a, b) => (a.client_id < b.client_id ? -1 : 1))) {
    if (numbers.has(ref.client_id)) continue;
    const taken = others.filter((other) => called(other) === called(ref)).map(({ client_id }) => numbers.get(client_id));
    let free = 1;
    while (taken.includes(free)) free++;
    numbers.set(ref.client_id, free);
  }
  return numbers;
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
  readonly act: 'give up' | 'take' | 'take over' | 'ask' | 'withdraw' | 'take back';
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
  const { asking, lent_by } = standing.presence;
  if (standing.self !== undefined && lent_by?.includes(standing.self)) return { act: 'take back', text: 'Take control back', hint };
  if (may(principal, 'pty:admin')) return { act: 'take over', text: 'Take control', hint };
  if (standing.self !== undefined && asking.includes(standing.self))
    return { act: 'withdraw', text: 'Stop asking', hint: `${hint}, and was asked` };
  return { act: 'ask', text: 'Ask for control', hint };
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

/** What became of this window's asking for control; undefined if nothing did. */
export function answerOf(before: Standing, now: Standing): string | undefined {
  const asks = ({ self, presence }: Standing) => self !== undefined && presence.asking.includes(self);
  const isStillWatching = now.members.observers.some(({ client_id }) => client_id === now.self);
  const isSame = before.self === now.self;
  return isSame && asks(before) && !asks(now) && isStillWatching ? 'Not now: you ask for control no longer.' : undefined;
}

/** Why nothing happens when one types. */
export function whyDeaf(standing: Standing, principal: Principal): string {
  if (!may(principal, 'pty:control')) return 'You are watching: your token does not let you type.';
  const held = holders(standing);
  return held === undefined ? 'Nobody has control: take it to type.' : `You are watching. ${held} has control.`;
}

const ids = ({ members }: Standing) => members.controllers.map(({ client_id }) => client_id);
/** In one line, without characters that are not seen: they could make one name look like another. */
const called = (ref: MemberRef) => (ref.label ?? '').replace(/\p{C}/gu, '').trim() || `Client ${ref.client_id.slice(-4)}`;
const inWords = ({ name, who }: Person) =>
  who === 'former' ? 'Your connection from before the cut' : who === 'you' ? 'This window' : name;
