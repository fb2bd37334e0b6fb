// What programs ask of a terminal, and what the answers to it look like: one table, for all who must tell them from text. Knows no screen.
import { type Sequence, SequenceReader } from './sequences.js';

/** Bytes of an unfinished sequence that may still be a query; a longer one is let through. */
const MAX_HELD = 4096;

/** `cursor` is the only kind whose answer is what a key may be, too: CSI 1;2R is Shift+F3. */
export type QueryKind =
  | 'attributes'
  | 'status'
  | 'cursor'
  | 'page cursor'
  | 'mode'
  | 'setting'
  | 'version'
  | 'window'
  | 'title'
  | 'colour'
  | 'clipboard'
  | 'keyboard'
  | 'parameters'
  | 'capability';

interface Form {
  readonly kind: QueryKind;
  readonly query: RegExp;
  readonly answer: RegExp;
  /** Matched once for each answer that one query asks for; absent for one. */
  readonly each?: RegExp;
}

const NOTHING = Uint8Array.of(0x1b, 0x5c);
const ESCAPE = 0x1b;
const ESC = '\x1b';
const form = (kind: QueryKind, query: string, answer: string, each?: RegExp): Form => ({
  kind,
  query: new RegExp(`^${ESC}(?:${query})$`),
  answer: new RegExp(`^${ESC}(?:${answer})$`),
  ...(each && { each }),
});

/** What may follow a parameter: terminals look at the first of them alone. */
const MORE = '(?:[;:][\\d;:]*)?';

/** All that is known to be asked of terminals, whether this one answers it or not: others do. */
const forms: readonly Form[] = [
  // DA1 (and DECID), DA2, DA3
  form('attributes', `\\[[>=]?0*${MORE}c|Z`, '\\[[?>][\\d;]*c|P!\\|[\\dA-Fa-f]*'),
  // DSR 5, and the private ones: printer, keys, keyboard, locator, colour scheme
  form('status', `\\[0*5${MORE}n|\\[\\?(?!0*6${MORE}n)[\\d;:]*n`, '\\[[03]n|\\[\\?[\\d;]*n'),
  // CPR
  form('cursor', `\\[0*6${MORE}n`, '\\[\\d+;\\d+R'),
  // DECXCPR
  form('page cursor', `\\[\\?0*6${MORE}n`, '\\[\\?\\d+;\\d+(?:;\\d+)?R'),
  // DECRQM, ANSI and private
  form('mode', '\\[\\??[\\d;:]*\\$p', '\\[\\??\\d+;\\d\\$y'),
  // DECRQSS
  form('setting', 'P[\\d;:]*\\$q.*', 'P[01]\\$r.*'),
  // XTVERSION
  form('version', `\\[>0*${MORE}q`, 'P>\\|.*'),
  // XTWINOPS
  form('window', `\\[0*1[1-9]${MORE}t`, '\\[[1-9](?:;\\d*)*t'),
  form('title', `\\[0*2[01]${MORE}t`, '\\][lL].*'),
  // OSC 4, 5, 10…19
  form('colour', '\\]0*(?:[45]|1\\d);(?:.*;)?\\?(?:;.*)?', '\\](?:[45]|1\\d);.*rgba?:.*', /;\?(?=;|$)/g),
  form('clipboard', '\\]52;\\w*;\\?', '\\]52;.*'),
  // The keyboard protocols of kitty and of xterm
  form('keyboard', '\\[\\?u|\\[\\?\\d*m', '\\[\\?\\d+u|\\[>[\\d;]*m'),
  // DECREQTPARM
  form('parameters', '\\[[01]?x', '\\[[\\d;]+x'),
  // XTGETTCAP
  form('capability', 'P[\\d;:]*\\+q.*', 'P[01]\\+r.*', /(?:q|;)(?=[\dA-Fa-f]*(?:;|$))/g),
];

export interface Query {
  readonly kind: QueryKind;
  /** How many answers it asks for, 1 or more. */
  readonly answers: number;
}

/** What a sequence asks; undefined if nothing. */
export function queryOf({ text }: Pick<Sequence, 'text'>): Query | undefined {
  const found = forms.find(({ query }) => query.test(text));
  return found && { kind: found.kind, answers: Math.max(1, found.each ? (text.match(found.each)?.length ?? 1) : 1) };
}

/** What a sequence answers; undefined if nothing. */
export function answerOf({ text }: Pick<Sequence, 'text'>): QueryKind | undefined {
  return forms.find(({ answer }) => answer.test(text))?.kind;
}

/** Whether an answer is what a modified F3 sends as well (xterm: CSI 1 ; modifiers R, 2…16). */
export const mayBeKey = ({ text }: Pick<Sequence, 'text'>): boolean => FUNCTION_KEY.test(text);
const FUNCTION_KEY = new RegExp(`^${ESC}\\[1;(?:[2-9]|1[0-6])R$`);

/** What ends a control sequence that may ask: of others only SGR with a `?` in it does. */
const ASKING = new Set(Buffer.from('cnpqtux'));
/** What begins a string that may ask, and DECID. */
const BEGINNING = new Set(Buffer.from(']PZ'));
const [CSI, SGR, PRIVATE, C1_LEAD, CAN, SUB] = [0x5b, 0x6d, 0x3f, 0xc2, 0x18, 0x1a];

/** Whether a query may begin in these bytes, which begin outside of any sequence. Quick, and wrong only in saying yes. */
function mayAsk(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(ESCAPE); at >= 0; at = bytes.indexOf(ESCAPE, at + 1)) if (mayAskAt(bytes, at + 1)) return true;
  return hasC1(bytes);
}

/** Whether a control of eight bits is in these bytes, in UTF-8. */
function hasC1(bytes: Uint8Array): boolean {
  for (let at = bytes.indexOf(C1_LEAD); at >= 0; at = bytes.indexOf(C1_LEAD, at + 1))
    if ((bytes[at + 1] as number) >= 0x80 && (bytes[at + 1] as number) < 0xa0) return true;
  return false;
}

/** Of the sequence whose ESC stands before `from`. */
function mayAskAt(bytes: Uint8Array, from: number): boolean {
  const first = behindControls(bytes, from);
  if (isLost(bytes[first])) return true;
  if (bytes[first] !== CSI) return BEGINNING.has(bytes[first] as number);
  let isPrivate = false;
  for (let at = first + 1; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === ESCAPE || byte === CAN || byte === SUB) return false;
    if (byte === PRIVATE) isPrivate = true;
    if (isLost(byte)) return true;
    if (byte >= 0x40 && byte !== 0x7f) return ASKING.has(byte) || (isPrivate && byte === SGR);
  }
  return false;
}

/** What is no UTF-8 is not there at all for who decodes it: a sequence may go on behind it. */
const isLost = (byte = 0): boolean => byte >= 0x80;

/** Controls are carried out where they stand, inside of a sequence too; those that end it are none of these. */
function behindControls(bytes: Uint8Array, from: number): number {
  let at = from;
  for (; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === ESCAPE || byte === CAN || byte === SUB || (byte >= 0x20 && byte !== 0x7f)) break;
  }
  return at;
}

/** Finds the queries of a stream, wherever it was cut. Nearly all output asks nothing, and costs next to nothing here. */
export class QueryFinder {
  readonly #reader = new SequenceReader();

  /** `found` is called with each query that ends in these bytes. */
  read(bytes: Uint8Array, found: (query: Query) => void): void {
    if (hasC1(bytes)) this.#readAll(bytes, found);
    else this.#readWhatMayAsk(bytes, found);
  }

  /** ESC begins anew from anywhere: a sequence that asks nothing is passed over, but for the last one, which may go on in what follows. */
  #readWhatMayAsk(bytes: Uint8Array, found: (query: Query) => void): void {
    for (let at = this.isIdle ? firstBeginning(bytes) : 0; at < bytes.length; ) {
      const next = bytes.indexOf(ESCAPE, at + 1);
      const end = next < 0 ? bytes.length : next;
      if (next < 0 || !this.isIdle || mayAskAt(bytes, at + 1)) this.#readAll(bytes.subarray(at, end), found);
      at = end;
    }
  }

  #readAll(bytes: Uint8Array, found: (query: Query) => void): void {
    this.#reader.read(bytes, (sequence) => {
      const query = queryOf(sequence);
      if (query) found(query);
    });
  }

  /** Whether nothing is unfinished. */
  get isIdle(): boolean {
    return this.unfinished === 0;
  }

  /** Bytes of what is unfinished. */
  get unfinished(): number {
    return this.#reader.at - this.#reader.begun;
  }

  /**
   * Whether what is unfinished is over at the first ESC of these bytes, so that from there on they can be read as if they began outside of any
   * sequence; then what it asks is found. ESC begins anew from anywhere, and all that begins before it is a control of eight bits.
   */
  endsAtEscape(bytes: Uint8Array, found: (query: Query) => void): boolean {
    const first = bytes.indexOf(ESCAPE);
    const head = bytes.subarray(0, first);
    if (first < 0 || hasC1(head)) return false;
    this.#readAll(head, found);
    this.#readAll(NOTHING, found);
    return true;
  }
}

/** What is asked in a piece of a stream that begins outside of any sequence, and the beginning of what it does not finish. */
export interface AskedIn {
  readonly queries: readonly Query[];
  readonly unfinished: Uint8Array;
}

const NOTHING_ASKED: AskedIn = { queries: [], unfinished: new Uint8Array(0) };

export function askedIn(bytes: Uint8Array): AskedIn {
  if (firstBeginning(bytes) === bytes.length && !hasC1(bytes)) return NOTHING_ASKED;
  const finder = new QueryFinder();
  const queries: Query[] = [];
  finder.read(bytes, (query) => queries.push(query));
  if (queries.length === 0 && finder.isIdle) return NOTHING_ASKED;
  // A copy: who remembers it does not keep all the bytes for it.
  return { queries, unfinished: new Uint8Array(bytes.subarray(bytes.length - finder.unfinished)) };
}

/** Where the first sequence, or a character that may become the beginning of one, begins; the end if there is none. */
function firstBeginning(bytes: Uint8Array): number {
  const first = bytes.indexOf(ESCAPE);
  if (first >= 0) return first;
  return bytes.at(-1) === C1_LEAD ? bytes.length - 1 : bytes.length;
}

/**
 * Takes the queries out of a stream, for a terminal that must not answer. In the place of each stands a lone ST, which does nothing but to end
 * what a combining mark or REP would refer to, as the query would have done. What may be the beginning of one is kept for the next call, unless
 * there is a control in it, which is to be carried out now.
 */
export class QueryFilter {
  readonly #reader = new SequenceReader();
  #held = new Uint8Array(0);

  take(bytes: Uint8Array): Uint8Array {
    const all = Buffer.concat([this.#held, bytes]);
    const start = this.#reader.at - this.#held.length;
    const kept: Uint8Array[] = [];
    let from = 0;
    this.#reader.read(bytes, (sequence) => {
      if (!queryOf(sequence) || sequence.from < start) return;
      kept.push(all.subarray(from, sequence.from - start), NOTHING);
      from = sequence.to - start;
    });
    const begun = Math.max(from, this.#reader.begun - start);
    const unfinished = all.subarray(begun);
    const mayBeQuery = unfinished.length <= MAX_HELD && !unfinished.some((byte) => byte < 0x20 && byte !== ESCAPE);
    const end = mayBeQuery ? begun : all.length;
    this.#held = all.slice(end);
    kept.push(all.subarray(from, end));
    return kept.length === 1 ? (kept[0] as Uint8Array) : Buffer.concat(kept);
  }

  /** What is still held: the stream ends here. */
  end(): Uint8Array {
    const held = this.#held;
    this.#held = new Uint8Array(0);
    return held;
  }
}

/** A piece of a stream without its queries; an unfinished one at its end stays. It begins outside of any sequence. */
export function withoutQueries(bytes: Uint8Array): Uint8Array {
  if (!mayAsk(bytes)) return bytes;
  const filter = new QueryFilter();
  return Buffer.concat([filter.take(bytes), filter.end()]);
}
