// Finds what is sought in visible text, byte by byte. Knows no escape sequence, no chunk and no clock.
import type { Automaton } from './automaton.js';
import type { LongSecret } from './long-secret.js';
import { HEAD_BYTES, type Sought, type SoughtShape } from './sought.js';

/** Newest bytes of text of which it is known where they are: more than may wait, and a power of two. */
const MEMORY = 256;
const SLOT = MEMORY - 1;
/** Bytes after the prefix from which on an unfinished token is taken for one if nothing more comes. */
const GUARDED_BODY = 8;
/** Bytes of a leased secret from which on it is waited for longer: so few are the beginning of much else. */
const WORTH_PATIENCE = 4;
/** Overwritten characters that wait with what is around them; of more than twice as many, the oldest are let go of. */
const MAX_GHOSTS = MEMORY;
/** Long secrets that are followed at the same time, which begin with the same bytes; the oldest is given up. */
const MAX_FOLLOWED = 16;

interface OpenShape {
  readonly shape: SoughtShape;
  /** Where its body begins, in bytes of text. */
  readonly from: number;
  count: number;
}

/** A long secret of which more has come than its head. */
interface Followed {
  readonly whole: LongSecret;
  count: number;
}

/** A character that was written where the one with that index is to be, and overwritten at once. */
interface Ghost {
  readonly index: number;
  readonly place: number;
}

/**
 * Text is what somebody reads: sequences between its characters do not show, and the end of a line does not either within a secret that is
 * long enough. Every decision follows from the text, so that it does not matter in which pieces it comes. `settle` alone depends on time.
 */
export class Matcher {
  readonly #sought: Automaton<Sought>;
  readonly #conceal: (place: number) => void;
  // Of the newest bytes: their places in the stream, and themselves.
  readonly #places = new Float64Array(MEMORY);
  readonly #bytes = new Uint8Array(MEMORY);
  #state = 0;
  /** Bytes of text so far, less those that were taken back. */
  #length = 0;
  /** What is before this cannot be taken back: an earlier line, or more than is remembered. */
  #floor = 0;
  /** The length at the end of the last line. */
  #lineEnd = 0;
  /** The text between these is concealed. */
  #concealedFrom = 0;
  #concealedTo = 0;
  #open: OpenShape[] = [];
  #followed: Followed[] = [];
  #ghosts: Ghost[] = [];
  /** What is before this index waited no longer when something behind it was taken back: it is out, and is concealed no more. */
  #gone = 0;
  /** What is before this place of the stream has been shown, since its time was over. */
  #shown = 0;

  /** `conceal` is told the places of what is secret. */
  constructor(sought: Automaton<Sought>, conceal: (place: number) => void) {
    this.#sought = sought;
    this.#conceal = conceal;
  }

  /** Bytes of text so far. */
  get length(): number {
    return this.#length;
  }

  /** The place of the first byte that may be part of a secret which is not whole yet; Infinity if none may. */
  get waitsFrom(): number {
    return this.#heldFrom(this.#waitsAt);
  }

  /** The place of the first byte of what may become a leased secret, if so much of one has come that it is waited for longer; Infinity if not. */
  get patientFrom(): number {
    const count = this.#sought.waiting(this.#state);
    return count >= WORTH_PATIENCE ? this.#heldFrom(this.#length - count) : Number.POSITIVE_INFINITY;
  }

  /** Whether this byte may become a part of what is concealed, if it is the next one or is written over at once. */
  mayConceal(byte: number): boolean {
    const { next, classOf } = this.#sought;
    const after = next[this.#state + (classOf[byte] as number)] as number;
    return !this.isFree || this.#sought.waiting(this.#state) > 0 || this.#sought.waiting(after < 0 ? ~after : after) > 0;
  }

  /** The next byte of the text, and its place in the stream. */
  feed(byte: number, place: number): void {
    const slot = this.#length & SLOT;
    this.#places[slot] = place;
    this.#bytes[slot] = byte;
    this.#length++;
    if (this.#open.length > 0) this.#goOn(byte);
    if (this.#followed.length > 0) this.#follow(byte);
    this.#arrive(this.#sought.next[this.#state + (this.#sought.classOf[byte] as number)] as number);
  }

  /** The same for the plain text that begins at `from`, which is at `place`. Returns the index where it ends, `to` at the latest. */
  feedPlain(bytes: Uint8Array, from: number, to: number, place: number): number {
    let i = from;
    while (i < to && isPlain(bytes[i] as number)) {
      if (this.#open.length === 0 && this.#followed.length === 0) i = this.#hurry(bytes, i, to, place - from);
      else {
        this.feed(bytes[i] as number, place - from + i);
        i++;
      }
    }
    return i;
  }

  /** A character that may be part of a secret is overwritten by the next one: it is as secret as what is around it, and waits with it. */
  ghost(place: number): void {
    if (place < this.#shown) return;
    this.#ghosts.push({ index: this.#length, place });
    if (this.#ghosts.length > 2 * MAX_GHOSTS) this.#ghosts = this.#waiting().slice(-MAX_GHOSTS);
  }

  /**
   * The last character will be written anew: another one, as who corrects does, or the same, as printers did for bold type. Who shows much of a
   * secret and takes it back has shown it.
   */
  takeBack(): void {
    this.#concealNewest(this.#sought.guarded(this.#state));
    const [waits, before] = [this.#waitsAt, this.#length];
    if (this.#ghosts.length > 0) this.#ghosts = this.#waiting();
    this.#floor = Math.max(this.#floor, this.#length - MEMORY);
    while (this.#length > this.#floor && isContinuation(this.#bytes[--this.#length & SLOT] as number));
    const taken = before - this.#length;
    if (taken === 0) return;
    const isConcealed = this.#length >= this.#concealedFrom && this.#length < this.#concealedTo;
    this.#state = this.#stateHere();
    this.#concealedTo = Math.min(this.#concealedTo, this.#length);
    this.#open = this.#open.filter(({ from }) => from <= this.#length);
    for (const open of this.#open) open.count = this.#length - open.from;
    for (const followed of this.#followed) followed.count -= taken;
    this.#followed = this.#followed.filter(({ count }) => count >= HEAD_BYTES);
    this.#gone = Math.min(waits, this.#length);
    if (waits <= this.#length && !isConcealed) this.ghost(this.#places[this.#length & SLOT] as number);
  }

  /** Whether what follows is looked at as if nothing had been before it in its line. */
  get isFree(): boolean {
    return this.#open.length === 0 && this.#followed.length === 0;
  }

  /** So many bytes were whole lines in which nothing begins that is sought. They are counted as text, whatever they are. */
  passOver(count: number): void {
    this.#length += count;
    this.#state = 0;
    this.endLine();
  }

  /** A line ends here, by itself and not because it is full. */
  endLine(): void {
    this.#lineEnd = this.#length;
    this.#floor = this.#length;
    if (this.#open.length > 0) this.#open = this.#open.filter(({ shape }) => shape.isBlock);
  }

  /** Nothing of what follows belongs to what was. */
  endText(): void {
    this.endLine();
    this.#state = 0;
    this.#open = [];
    this.#followed = [];
  }

  /** All before this place of the stream is out. */
  letGo(upTo: number): void {
    this.#shown = upTo;
    this.#ghosts = this.#ghosts.filter(({ place }) => place >= upTo);
  }

  /** What waits goes out now: as a secret if so much of one has come that it is one. */
  settle(): void {
    this.#concealNewest(this.#sought.guarded(this.#state));
    this.settleShapes();
  }

  /** The same, but what may become a leased secret goes on waiting. */
  settleShapes(): void {
    for (const { shape, from, count } of this.#open)
      if (count < shape.least && count >= GUARDED_BODY) this.#concealNewest(this.#length - from);
  }

  /** Of what was overwritten, all that may still be concealed: what waits no longer never will be. */
  #waiting(): Ghost[] {
    const from = this.#waitsAt;
    return this.#ghosts.filter(({ index }) => index >= from);
  }

  /** The index of the first byte that may be part of a secret which is not whole yet. */
  get #waitsAt(): number {
    let from = this.#length - this.#sought.waiting(this.#state);
    for (const open of this.#open) if (open.count < open.shape.least) from = Math.min(from, open.from);
    return Math.max(from, this.#gone);
  }

  /** The first place of the text from this index on, and of what was overwritten in it; Infinity if there is none. */
  #heldFrom(from: number): number {
    let place = from < this.#length ? (this.#places[from & SLOT] as number) : Number.POSITIVE_INFINITY;
    for (const ghost of this.#ghosts) if (ghost.index >= from) place = Math.min(place, ghost.place);
    return place;
  }

  /** As `feedPlain`, until something is found. */
  #hurry(bytes: Uint8Array, from: number, to: number, offset: number): number {
    const { next, classOf } = this.#sought;
    const [places, known] = [this.#places, this.#bytes];
    let state = this.#state;
    let length = this.#length;
    let i = from;
    while (i < to && state >= 0) {
      const byte = bytes[i] as number;
      if (byte < 0x20 || byte >= 0x7f) break;
      const slot = length & SLOT;
      places[slot] = offset + i;
      known[slot] = byte;
      length++;
      i++;
      state = next[state + (classOf[byte] as number)] as number;
    }
    this.#length = length;
    this.#arrive(state);
    return i;
  }

  /** The state follows from the newest bytes alone, as many as the longest literal has. */
  #stateHere(): number {
    const { next, classOf } = this.#sought;
    let state = 0;
    for (let i = Math.max(this.#floor, this.#length - HEAD_BYTES); i < this.#length; i++) {
      const reached = next[state + (classOf[this.#bytes[i & SLOT] as number] as number)] as number;
      state = reached < 0 ? ~reached : reached;
    }
    return state;
  }

  #arrive(state: number): void {
    this.#state = state < 0 ? ~state : state;
    if (state < 0) for (const found of this.#sought.ending(this.#state)) this.#found(found);
  }

  #found(found: Sought): void {
    if (found.kind === 'block_end') this.#open = this.#open.filter(({ shape }) => !shape.isBlock);
    else if (found.kind === 'shape') this.#begin(found.shape);
    else this.#foundSecret(found);
  }

  #foundSecret({ length, whole, isShort }: Sought & { kind: 'secret' }): void {
    if (isShort && this.#length - length < this.#lineEnd) return;
    this.#concealNewest(length);
    if (!whole || this.#followed.some((followed) => followed.whole === whole)) return;
    if (this.#followed.length === MAX_FOLLOWED) this.#followed.shift();
    this.#followed.push({ whole, count: length });
  }

  /** One of a kind at a time: what begins inside of another is part of it. Right behind what is concealed no word goes on. */
  #begin(shape: SoughtShape): void {
    const start = this.#length - shape.prefixLength;
    const goesOn = start > this.#lineEnd && start > this.#concealedTo;
    const isInWord = shape.isWord && goesOn && isWordByte(this.#bytes[(start - 1) & SLOT] as number);
    if (start < this.#lineEnd || isInWord || this.#open.some((open) => open.shape === shape)) return;
    this.#open.push({ shape, from: this.#length, count: 0 });
  }

  #goOn(byte: number): void {
    this.#open = this.#open.filter((open) => open.shape.body[byte]);
    for (const open of this.#open) {
      open.count++;
      if (open.count === open.shape.least) this.#concealNewest(this.#length - open.from);
      else if (open.count > open.shape.least) this.#concealNewest(1);
    }
  }

  /** Less than a head is found by the automaton, when it is one. */
  #follow(byte: number): void {
    for (const followed of this.#followed) followed.count = followed.whole.after(followed.count, byte);
    this.#followed = this.#followed.filter(({ count }) => count >= HEAD_BYTES);
    if (this.#followed.length > 0) this.#concealNewest(1);
  }

  /** Each byte once, however many secrets it is part of. */
  #concealNewest(count: number): void {
    const from = Math.max(this.#length - count, this.#gone);
    const isPartly = from >= this.#concealedFrom && from <= this.#concealedTo;
    const first = isPartly ? this.#concealedTo : from;
    for (let i = first; i < this.#length; i++) this.#conceal(this.#places[i & SLOT] as number);
    for (const { index, place } of this.#ghosts) if (index >= first && index < this.#length) this.#conceal(place);
    if (!isPartly) this.#concealedFrom = from;
    this.#concealedTo = this.#length;
  }
}

/** A printable character of ASCII. */
export const isPlain = (byte: number): boolean => byte >= 0x20 && byte < 0x7f;

/** Of a character in UTF-8. */
export const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;

/** A letter, a digit or `_`. */
const isWordByte = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5a) || byte === 0x5f || (byte >= 0x61 && byte <= 0x7a);
