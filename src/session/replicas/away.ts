// The members on this replica of sessions that run elsewhere: what their owners tell them finds its way here. Knows no bus.
import { closeCode, Fault } from '../../errors.js';
import type { Frame } from '../../protocol/frames.js';
import { entry } from '../../protocol/make-frames.js';
import type { Member } from '../session.js';
import type { Tiding, Tidings, Told } from './remote-words.js';

/** Frames of one member that may be on the way at once. */
const MAX_COMING = 512;
/** How long one may be on the way, in milliseconds: longer than its owner's screen and the bus may take together. */
const COMING_MS = 20_000;

/** Undefined if it will not come: the replica that owed it is gone, or it was lost on the way. */
type Owed = Frame | undefined;

interface Coming {
  readonly frame: Promise<Owed>;
  resolve(frame: Owed): void;
}

interface Guest {
  readonly member: Member;
  /** The replica that runs its session. */
  owner: string;
  /** Frames whose number is known and whose content is not, or the other way round. */
  readonly coming: Map<number, Coming>;
}

export class Away {
  readonly #guests = new Map<string, Guest>();

  enter(handle: string, member: Member, owner: string): void {
    this.#guests.set(handle, { member, owner, coming: new Map() });
  }

  leave(handle: string): void {
    this.#guests.delete(handle);
  }

  /**
   * The Keyframe of a member that joins, whenever it comes. Rejects with INTERNAL (retryable) if it will not: whoever joins again, where the
   * session is then, gets another.
   */
  expect(handle: string, sequence: number): Promise<Frame> {
    const guest = this.#guests.get(handle);
    const frame = (guest ? claim(guest, sequence) : Promise.resolve(undefined)).then((owed) => owed ?? Promise.reject(gone()));
    frame.catch(() => {}); // who joined may have gone before it
    return frame;
  }

  /** From an owner. False if there is no such member (any more). */
  hear<T extends Tiding>(owner: string, what: T, { head, bytes }: Told<Tidings[T]>): boolean {
    const guest = this.#guests.get(head.handle);
    if (!guest) return false;
    // A former owner that wakes up sends nobody away.
    if (isA('sendAway', what, head) && guest.owner !== owner) return true;
    guest.owner = owner;
    const body = bytes ?? new Uint8Array();
    if (isA('deliver', what, head)) this.#deliver(guest, head, body);
    else if (isA('ready', what, head)) comingOf(guest, head.frame.sequence).resolve({ ...head.frame, body });
    else if (isA('presenceState', what, head)) guest.member.tell?.(head.state);
    else if (isA('sendAway', what, head)) guest.member.dismiss(head.reason, head.code, head.detail);
    return true;
  }

  /** That replica is gone, and what it had promised will not come. */
  forsake(owner: string): void {
    for (const guest of this.#guests.values()) {
      if (guest.owner !== owner) continue;
      for (const coming of guest.coming.values()) coming.resolve(undefined);
    }
  }

  /**
   * What this owner told may be lost, be it that one of them was sent away; or, with none named, all owners may have taken them for gone. Each
   * comes back from its place, as a new member, if it may.
   */
  sendBack(of?: string): void {
    for (const { member, owner } of this.#guests.values())
      if (of === undefined || owner === of) member.dismiss('other', closeCode.fault, 'this replica was cut off from the others');
  }

  #deliver({ member, coming }: Guest, { sequence, frame }: Tidings['deliver'], body: Uint8Array): void {
    if (frame) member.deliver({ sequence, frame: { ...frame, body } });
    else member.deliver({ sequence, frame: claim({ coming }, sequence).then((owed) => owed ?? lost(sequence)) });
  }
}

function isA<T extends Tiding>(wanted: T, what: Tiding, _head: Tidings[Tiding]): _head is Tidings[T] {
  return what === wanted;
}

/** Its frame, which is forgotten once it is there. */
function claim(guest: Pick<Guest, 'coming'>, sequence: number): Promise<Owed> {
  const { frame } = comingOf(guest, sequence);
  void frame.then(() => guest.coming.delete(sequence));
  return frame;
}

function comingOf({ coming }: Pick<Guest, 'coming'>, sequence: number): Coming {
  const known = coming.get(sequence);
  if (known) return known;
  let settle: (frame: Owed) => void = () => {};
  const frame = new Promise<Owed>((resolve) => {
    settle = resolve;
  });
  const late = setTimeout(() => settle(undefined), COMING_MS).unref();
  void frame.then(() => clearTimeout(late));
  const fresh: Coming = { frame, resolve: settle };
  coming.set(sequence, fresh);
  const [oldest] = coming.keys();
  if (coming.size > MAX_COMING && oldest !== undefined) {
    coming.get(oldest)?.resolve(undefined);
    coming.delete(oldest);
  }
  return fresh;
}

const gone = () => new Fault('INTERNAL', 'the screen did not come from the replica that runs this session; attach again', { status: 503 });

function lost(sequence: number): Frame {
  return {
    ...entry('Error', { code: 'KEYFRAME_UNAVAILABLE', message: 'the screen did not come from the replica that runs this session' }),
    sequence,
  };
}
