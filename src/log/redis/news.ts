// What a batch tells of itself: to the script that takes it, and to those who follow on other replicas. Knows no Redis.
//
// A message is the news as JSON; a line end; the lowest numbers kept after each call, by commas; a line end; the bodies, one after the
// other. Where these are many bytes, each is a message by itself on a channel of their own, right after. The writer makes the news, the
// script adds what only it knows. What a program prints can look like anything: a body is never taken for news, nor for the body of others.
import { type Draft, type Extent, isEntry, type Numbered, type Placed, placesOf } from '../log.js';

/** One append that was taken. */
export interface Told {
  readonly entries: readonly Numbered[];
  readonly extent: Extent;
  readonly places: readonly Placed[];
}

export interface Message {
  readonly first: number;
  readonly calls: readonly Told[];
  /** Of its bodies. */
  readonly bytes: number;
}

interface News {
  /** The first number. */
  readonly first: number;
  /** Of each append: how many numbers it has, and how many entries. */
  readonly calls: ReadonlyArray<readonly [numbers: number, entries: number]>;
  readonly entries: ReadonlyArray<readonly [sequence: number, kind: string, id: string, ts: number, bytes: number]>;
  readonly places: ReadonlyArray<readonly [sequence: number, to: string]>;
}

/** The entries of one append whose first number is `first`. */
export function entriesOf(drafts: readonly Draft[], first: number): Numbered[] {
  return drafts.flatMap((draft, i) => (isEntry(draft) ? [{ ...draft, sequence: first + i }] : []));
}

/** The news of appends with consecutive numbers, and the bodies of their entries. */
export function newsOf(calls: ReadonlyArray<readonly Draft[]>, first: number): { readonly news: string; readonly bodies: Uint8Array[] } {
  const entries: Numbered[] = [];
  const places: Placed[] = [];
  const sizes: Array<[number, number]> = [];
  let next = first;
  for (const drafts of calls) {
    const before = entries.length;
    entries.push(...entriesOf(drafts, next));
    places.push(...placesOf(drafts, next));
    sizes.push([drafts.length, entries.length - before]);
    next += drafts.length;
  }
  const news: News = {
    first,
    calls: sizes,
    entries: entries.map(({ sequence, kind, id, ts, body }) => [sequence, kind, id, ts, body.length]),
    places: places.map(({ sequence, to }) => [sequence, to]),
  };
  return { news: JSON.stringify(news), bodies: entries.map(({ body }) => body) };
}

interface Head {
  readonly news: News;
  readonly oldests: readonly number[];
}

/** Puts together what is heard of one session. Bodies share the memory of what was heard. */
export class Messages {
  /** Its bodies are still to come, but for those that are there. */
  #begun: Head | undefined;
  #bodies: Buffer[] = [];

  /** Undefined if more is to come; `unreadable` if this version cannot read it. What was begun before and is not whole is dropped. */
  hearNews(message: Buffer): Message | 'unreadable' | undefined {
    this.reset();
    try {
      const { head, bodies } = readNews(message);
      if (bodies) return messageOf(head, bodies);
      this.#begun = head;
      return undefined;
    } catch {
      return 'unreadable';
    }
  }

  /** The same, of a body that follows; one that nobody waits for is dropped. */
  hearBody(body: Buffer): Message | 'unreadable' | undefined {
    const head = this.#begun;
    if (!head) return undefined;
    const isExpected = head.news.entries[this.#bodies.length]?.[4] === body.length;
    this.#bodies.push(body);
    if (isExpected && this.#bodies.length < head.news.entries.length) return undefined;
    const bodies = this.#bodies;
    this.reset();
    return isExpected ? messageOf(head, bodies) : 'unreadable';
  }

  /** What was heard of a message that is not whole is dropped. */
  reset(): void {
    this.#begun = undefined;
    this.#bodies = [];
  }
}

/** Without bodies if they follow. */
function readNews(message: Buffer): { readonly head: Head; readonly bodies: readonly Buffer[] | undefined } {
  const afterNews = message.indexOf(10);
  const afterOldests = message.indexOf(10, afterNews + 1);
  const news: News = JSON.parse(message.toString('utf8', 0, afterNews));
  const oldests = message
    .toString('latin1', afterNews + 1, afterOldests)
    .split(',')
    .map(Number);
  const isCut = bytesOf(news) > 0 && message.length === afterOldests + 1;
  return { head: { news, oldests }, bodies: isCut ? undefined : bodiesIn(news, message, afterOldests + 1) };
}

const bytesOf = ({ entries }: News): number => entries.reduce((sum, [, , , , bytes]) => sum + bytes, 0);

function bodiesIn({ entries }: News, message: Buffer, from: number): Buffer[] {
  let end = from;
  return entries.map(([, , , , bytes]) => {
    end += bytes;
    return message.subarray(end - bytes, end);
  });
}

function messageOf({ news, oldests }: Head, bodies: readonly Buffer[]): Message {
  const entries = news.entries.map(([sequence, kind, id, ts], i) => ({ sequence, kind, id, ts, body: bodies[i] as Buffer })).values();
  let last = news.first - 1;
  const calls = news.calls.map(([numbers, count], i): Told => {
    const before = last;
    last += numbers;
    const places = news.places.filter(([sequence]) => sequence > before && sequence <= last).map(([sequence, to]) => ({ to, sequence }));
    return { entries: take(entries, count), extent: { oldest: oldests[i] ?? 1, current: last }, places };
  });
  return { first: news.first, calls, bytes: bytesOf(news) };
}

function take<T>(from: IterableIterator<T>, count: number): T[] {
  return Array.from({ length: count }, () => from.next().value as T);
}

/** What of an append has a number above `after`; undefined if nothing has. */
export function toldAfter({ entries, extent, places }: Told, after: number): Told | undefined {
  if (extent.current <= after) return undefined;
  const isNew = ({ sequence }: { readonly sequence: number }) => sequence > after;
  return { entries: entries.filter(isNew), extent, places: places.filter(isNew) };
}
