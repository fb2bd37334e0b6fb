// What a writer sends in one step: the calls that share it, their numbers, what is said of them. Knows no client.
import { type Draft, isEntry, type LogError } from '../log.js';
import { newsOf } from './news.js';

/** Most in one batch, unless a single append has more: bytes of bodies, and numbers. */
const BATCH_BYTES = 1024 * 1024;
const BATCH_NUMBERS = 1_000;

/** What waits to be taken: drafts, drafts that were taken and lost, a record, or nothing but a sign of life. */
export interface Call {
  readonly what: 'append' | 'again' | 'record' | 'touch';
  readonly drafts: readonly Draft[];
  readonly bytes: number;
  readonly record?: string;
  resolve(first: number): void;
  reject(error: LogError): void;
}

export interface Batch {
  readonly calls: readonly Call[];
  readonly first: number;
  /** Below `first` if the batch has no numbers. */
  readonly last: number;
  readonly bytes: number;
  /** The lowest number kept after each of its appends, when it was taken. */
  oldests: readonly number[] | undefined;
  /** Resolves when it was taken, or failed. */
  answered: Promise<void>;
}

const ignore = (): void => {};
export const touch: Call = { what: 'touch', drafts: [], bytes: 0, resolve: ignore, reject: ignore };
export const recordAgain = (record: string): Call => ({ ...touch, what: 'record', record });
export const writeAgain = (drafts: readonly Draft[]): Call => ({ ...touch, what: 'again', drafts, bytes: bytesOf(drafts) });

export const isNew = ({ what }: Call): boolean => what !== 'again';
export const isAppend = ({ what }: Call): boolean => what === 'append' || what === 'again';

export const bytesOf = (drafts: readonly Draft[]): number =>
  drafts.reduce((sum, draft) => sum + (isEntry(draft) ? draft.body.length : 0), 0);

/** Takes from a queue what fits into one batch. What is written again is not announced, so it shares no batch with what is new. */
export function nextCalls(queue: Call[]): Call[] {
  let [bytes, numbers] = [0, 0];
  const isFirstNew = queue[0] && isNew(queue[0]);
  const end = queue.findIndex((call, index) => {
    bytes += call.bytes;
    numbers += call.drafts.length;
    return index > 0 && (bytes > BATCH_BYTES || numbers > BATCH_NUMBERS || isNew(call) !== isFirstNew);
  });
  return queue.splice(0, end < 0 ? queue.length : end);
}

export function batchOf(calls: readonly Call[], first: number): Batch {
  const last = first - 1 + calls.reduce((sum, { drafts }) => sum + drafts.length, 0);
  const bytes = calls.reduce((sum, call) => sum + call.bytes, 0);
  return { calls, first, last, bytes, oldests: undefined, answered: Promise.resolve() };
}

/** Each call with its numbers. */
export function placed({ calls, first }: Batch): Array<{ readonly call: Call; readonly first: number; readonly last: number }> {
  let next = first;
  return calls.map((call) => {
    const from = next;
    next += call.drafts.length;
    return { call, first: from, last: next - 1 };
  });
}

/** What the script is given of a batch. */
export function contentOf({ calls, first }: Batch): {
  readonly news: string;
  readonly bodies: Buffer[];
  readonly record: string;
  readonly isAnnounced: boolean;
} {
  const appends = calls.filter(isAppend);
  const { news, bodies } = newsOf(
    appends.map(({ drafts }) => drafts),
    first,
  );
  const record = calls.findLast((call) => call.record !== undefined)?.record ?? '';
  return { news, bodies: bodies.map(asBuffer), record, isAnnounced: appends.some(isNew) };
}

const asBuffer = (body: Uint8Array): Buffer => (Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.length));

/** The lowest number kept after each append at most, where only what is kept now is known. */
export function oldestsOf(batch: Batch, oldest: number): number[] {
  return placed(batch).flatMap(({ call, last }) => (isAppend(call) ? [Math.min(oldest, last + 1)] : []));
}
