// The chain of audit lines, as anyone can read it: each names the hash of the one before (contract, Audit lines). Writes nothing.
import { createHash, type KeyObject } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { isSigned } from './checkpoint.js';

/** `prev_hash` of the first line. */
export const GENESIS = '0'.repeat(64);
/** Bytes read from the end of a file to find its last line. */
const TAIL_BYTES = 65_536;
/** How every line begins, by which a half-written one is told from a file that is none of ours. */
const LINE_START = '{"ts":"';

/** The file cannot be continued; the message says why, in one line. */
export class AuditFileError extends Error {
  override readonly name = 'AuditFileError';
}

/** Where a chain is: the number and hash of its last whole line. */
export interface Link {
  readonly n: number;
  readonly hash: string;
}

/** Where the chain of a file is, and the size of the file up to the end of its last whole line, in bytes. */
export interface ChainEnd extends Link {
  readonly size: number;
}

const beginning: Link = { n: 0, hash: GENESIS };

/** The hash of a line: SHA-256, in hex, over the JSON of all its other fields in their order. */
export function lineHash(fields: Readonly<Record<string, unknown>>): string {
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}

/** Reads the last whole line; what a crash left unfinished behind it is not counted. Throws AuditFileError for what is no chain. */
export async function chainEnd(file: FileHandle, name: string): Promise<ChainEnd> {
  const found = await file.stat();
  if (!found.isFile()) throw new AuditFileError(`${name} is no regular file; expected one that keeps what is appended`);
  const { size } = found;
  const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
  await file.read(tail, 0, tail.length, size - tail.length);
  const at = tail.lastIndexOf('\n') + 1;
  const torn = tail.toString('utf8', at);
  if (!LINE_START.startsWith(torn.slice(0, LINE_START.length)) || (at === 0 && tail.length < size)) throw foreign(name);
  const end = size - tail.length + at;
  return { ...(end === 0 ? beginning : readEnd(tail.toString('utf8', 0, at - 1), name)), size: end };
}

function readEnd(lines: string, name: string): Link {
  const { link } = check(lines.slice(lines.lastIndexOf('\n') + 1));
  if (!link) throw foreign(name);
  return link;
}

function foreign(name: string): AuditFileError {
  return new AuditFileError(`${name}: its last line is no audit line, so it cannot be continued; move the file away to begin a new one`);
}

interface Checked {
  readonly wrong?: string;
  readonly link?: Link;
  readonly before?: string;
  readonly event?: unknown;
  readonly detail?: unknown;
}

/** What is wrong with a line by itself, or the link that it is. */
function check(text: string): Checked {
  let line: Record<string, unknown> | null;
  try {
    line = JSON.parse(text);
  } catch {
    return { wrong: 'is not JSON' };
  }
  const { hash, ...fields } = line ?? {};
  const { n, prev_hash, event, detail } = fields;
  if (typeof hash !== 'string' || !Number.isSafeInteger(n) || typeof prev_hash !== 'string') return { wrong: 'is no audit line' };
  const isAsWritten = hash === lineHash(fields) && text === JSON.stringify({ ...fields, hash });
  return isAsWritten
    ? { link: { n: n as number, hash }, before: prev_hash, event, detail }
    : { wrong: 'was edited: its hash does not fit' };
}

/** What was found: all is whole, or the first line that is not. */
export type Verdict =
  | {
      readonly whole: true;
      readonly lines: number;
      readonly first: number;
      readonly last: Link;
      /** The line up to which the chain is signed; absent without a key, 0 without a checkpoint. */
      readonly signed?: number;
      readonly torn?: string;
    }
  | { readonly whole: false; readonly file: string; readonly line: number; readonly why: string };

/**
 * Follows one chain through files, the oldest first, from its first line, or from the line with which a file continues another one.
 * With a public key every checkpoint must be signed with its private half. Rejects if a file cannot be read.
 */
export async function verify(files: readonly string[], key?: KeyObject): Promise<Verdict> {
  let last: Link | undefined;
  let signed = 0;
  const whole = () => ({ whole: true, lines, first, last: last ?? beginning, ...(key && { signed }) }) as const;
  let [lines, first] = [0, 1];
  for (const [i, file] of files.entries()) {
    let number = 0;
    for await (const { text, isWhole } of linesOf(file)) {
      number++;
      const isEnd = i === files.length - 1 && !isWhole;
      if (isEnd) return { ...whole(), torn: file };
      const checked = check(text);
      const isForged = key && checked.event === 'checkpoint' && !isSigned(checked.detail, before(checked), key);
      const why =
        checked.wrong ?? misplaced(checked as Placed, last) ?? (isForged ? 'is a checkpoint that this key did not sign' : undefined);
      if (why !== undefined || !checked.link) return { whole: false, file, line: number, why: why ?? 'is no audit line' };
      if (!last) first = checked.link.n;
      if (checked.event === 'checkpoint') signed = checked.link.n - 1;
      last = checked.link;
      lines++;
    }
  }
  return whole();
}

const before = ({ link, before = '' }: Checked): Link => ({ n: (link?.n ?? 0) - 1, hash: before });

interface Placed {
  readonly link: Link;
  readonly before: string;
  readonly event?: unknown;
}

/** Why a line that is whole does not belong behind `last`; undefined if it does. */
function misplaced({ link, before, event }: Placed, last: Link | undefined): string | undefined {
  if (!last) {
    const begins = (link.n === 1 && before === GENESIS) || event === 'rotate';
    return begins ? undefined : `is line ${link.n} of its chain; what came before it is missing`;
  }
  if (link.n === last.n + 1 && before === last.hash) return undefined;
  const missing = link.n - last.n - 1;
  if (missing > 0) {
    return `is line ${link.n} of its chain and stands behind line ${last.n}: ${missing} ${missing === 1 ? 'line is' : 'lines are'} missing between them`;
  }
  if (link.n <= last.n) return `is line ${link.n} of its chain and stands behind line ${last.n}: they were reordered, or it is there twice`;
  return `does not continue line ${last.n}: that one was written anew`;
}

/** The lines of a file, however long it is: nothing but a line feed ends one, as the gateway wrote it. The last one is not whole if none does. */
async function* linesOf(file: string): AsyncGenerator<{ readonly text: string; readonly isWhole: boolean }> {
  let rest = '';
  for await (const chunk of createReadStream(file, 'utf8')) {
    rest += chunk;
    if (!chunk.includes('\n')) continue;
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const text of lines) yield { text, isWhole: true };
  }
  if (rest !== '') yield { text: rest, isWhole: false };
}
