// What a batch tells of itself: to the script that takes it, and to those who follow on other replicas. Knows no Redis.
//
// A message is the lowest numbers kept after each call, by commas; a line end; the news as JSON; a line end; the bodies, one after the
// other. The writer makes the news, the script adds what only it knows.
import { type Draft, type Extent, isEntry, type Numbered, type Placed, placesOf } from '../log.js';

/** One append that was taken. */
export interface Told {
  readonly entries: readonly Numbered[];
  readonly extent: Extent;
  readonly places: readonly Placed[];
}

interface Message {
  readonly first: number;
  readonly calls: readonly Told[];
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

/** A message, read: its first number, and its appends in order. Bodies share its memory. Undefined if this version cannot read it. */
export function readMessage(message: Buffer): Message | undefined {
  try {
    return read(message);
  } catch {
    return undefined;
  }
}

function read(message: Buffer): Message {
  const afterOldest = message.indexOf(10);
  const afterNews = message.indexOf(10, afterOldest + 1);
  const oldests = message.toString('latin1', 0, afterOldest).split(',').map(Number);
  const news: News = JSON.parse(message.toString('utf8', afterOldest + 1, afterNews));
  const entries = numbered(news, message, afterNews + 1).values();
  let last = news.first - 1;
  const calls = news.calls.map(([numbers, count], i): Told => {
    const before = last;
    last += numbers;
    const places = news.places.filter(([sequence]) => sequence > before && sequence <= last).map(([sequence, to]) => ({ to, sequence }));
    return { entries: take(entries, count), extent: { oldest: oldests[i] ?? 1, current: last }, places };
  });
  return { first: news.first, calls };
}

function numbered(news: News, message: Buffer, from: number): Numbered[] {
  let end = from;
  return news.entries.map(([sequence, kind, id, ts, bytes]) => {
    end += bytes;
    return { sequence, kind, id, ts, body: message.subarray(end - bytes, end) };
  });
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
