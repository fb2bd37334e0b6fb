// Writes the audit lines into a file, each chained to the one before by SHA-256. Knows no request; never makes anyone wait.
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import type { Audit, AuditLine } from './audit.js';
import { makeFolder } from './folder.js';

/** Lines that wait for the disk; what comes while so many wait is counted and dropped. */
const MAX_WAITING_LINES = 10_000;
/** Lines in one write. */
const BATCH_LINES = 256;
/** Milliseconds until a failed write is tried again. */
const RETRY_MS = 1000;
/** Longest text of one field, in characters. */
const MAX_FIELD = 512;
/** Bytes read from the end of a file to find its last line. */
const TAIL_BYTES = 65_536;
/** How every line begins, by which a half-written one is told from a file that is none of ours. */
const LINE_START = '{"ts":"';
/** `prev_hash` of the first line. */
export const GENESIS = '0'.repeat(64);

/** The file cannot be continued; the message says why, in one line. */
export class AuditFileError extends Error {
  override readonly name = 'AuditFileError';
}

interface Options {
  readonly file: string;
  readonly replicaId: string;
  /** Told once when writing begins to fail, and once (with undefined) when it works again. */
  readonly onTrouble?: (sentence: string | undefined) => void;
  readonly now?: () => number;
  /** Appends bytes; for tests of a disk that fails. */
  readonly write?: (file: FileHandle, bytes: Uint8Array) => Promise<void>;
}

/** The hash of a line: SHA-256, in hex, over the JSON of all its other fields in their order. */
export function lineHash(fields: Readonly<Record<string, unknown>>): string {
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex');
}

/** Opens or continues the file (mode 0600). Throws AuditFileError if it cannot be opened, is no regular file, or its last line cannot be read. */
export async function openAuditFile(options: Options): Promise<Audit> {
  const file = await openOrMake(options.file);
  try {
    return new AuditFile(options, file, await chainEnd(file, options.file));
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function openOrMake(name: string): Promise<FileHandle> {
  try {
    await makeFolder(path.dirname(name));
    return await open(name, 'a+', 0o600);
  } catch (error) {
    throw new AuditFileError(`${name} cannot be opened: ${(error as Error).message}`, { cause: error });
  }
}

/** Where the chain is: the number and hash of the last whole line, and the size of the file up to its end. */
interface ChainEnd {
  readonly n: number;
  readonly hash: string;
  readonly size: number;
}

/** A waiting line with the time of its event, or how many lines were lost at this place. */
type Waiting = { readonly ts: number; readonly line: AuditLine } | { readonly ts: number; dropped: number };

class AuditFile implements Audit {
  readonly #options: Options;
  readonly #file: FileHandle;
  #end: ChainEnd;
  readonly #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #failing = false;
  #closed = false;
  #wake: (() => void) | undefined;

  constructor(options: Options, file: FileHandle, end: ChainEnd) {
    this.#options = options;
    this.#file = file;
    this.#end = end;
  }

  record(line: AuditLine): void {
    if (this.#closed) return;
    const ts = this.#options.now?.() ?? Date.now();
    const last = this.#waiting.at(-1);
    if (this.#waiting.length < MAX_WAITING_LINES) this.#waiting.push({ ts, line });
    else if (last && 'dropped' in last) last.dropped++;
    else this.#waiting.push({ ts, dropped: 1 });
    this.#writing ??= this.#drain();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#wake?.();
    await this.#writing;
    await this.#file.datasync().catch(() => {});
    await this.#file.close();
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const failure = await this.#writeBatch();
      if (failure === undefined) this.#recovered();
      else if (this.#closed) break;
      else await this.#pause(failure);
    }
    this.#writing = undefined;
  }

  /** Takes lines from the queue only once they are in the file; a half-written batch is cut off again. */
  async #writeBatch(): Promise<string | undefined> {
    const batch = this.#waiting.slice(0, BATCH_LINES);
    let { n, hash } = this.#end;
    let text = '';
    for (const waiting of batch) {
      const fields = this.#fields(waiting, ++n, hash);
      hash = lineHash(fields);
      text += `${JSON.stringify({ ...fields, hash })}\n`;
    }
    const bytes = Buffer.from(text);
    try {
      await (this.#options.write ?? append)(this.#file, bytes);
    } catch (error) {
      await this.#file.truncate(this.#end.size).catch(() => {});
      return (error as Error).message;
    }
    this.#end = { n, hash, size: this.#end.size + bytes.length };
    this.#waiting.splice(0, batch.length);
    return undefined;
  }

  #fields(waiting: Waiting, n: number, prevHash: string): Record<string, unknown> {
    const line: AuditLine =
      'line' in waiting
        ? waiting.line
        : { event: 'dropped', outcome: 'failed', principal: null, detail: `${waiting.dropped} lines were lost` };
    return {
      ts: new Date(waiting.ts).toISOString(),
      n,
      event: line.event,
      outcome: line.outcome,
      principal: short(line.principal),
      address: short(line.address),
      instance_id: short(line.instance_id),
      session_id: short(line.session_id),
      ...(line.client_id !== undefined && { client_id: short(line.client_id) }),
      ...(line.role !== undefined && { role: short(line.role) }),
      replica_id: this.#options.replicaId,
      ...(line.trace_id !== undefined && { trace_id: short(line.trace_id) }),
      ...(line.detail !== undefined && { detail: short(line.detail) }),
      prev_hash: prevHash,
    };
  }

  #recovered(): void {
    if (!this.#failing) return;
    this.#failing = false;
    this.#options.onTrouble?.(undefined);
  }

  async #pause(failure: string): Promise<void> {
    if (!this.#failing) this.#options.onTrouble?.(`the audit file ${this.#options.file} cannot be written: ${failure}`);
    this.#failing = true;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      setTimeout(resolve, RETRY_MS).unref();
    });
  }
}

function short(value: string | null | undefined): string | null {
  return value?.slice(0, MAX_FIELD) ?? null;
}

async function append(file: FileHandle, bytes: Uint8Array): Promise<void> {
  await file.appendFile(bytes);
}

/** Reads the last whole line; what a crash left unfinished behind it is cut off. */
async function chainEnd(file: FileHandle, name: string): Promise<ChainEnd> {
  const found = await file.stat();
  if (!found.isFile()) throw new AuditFileError(`${name} is no regular file; expected one that keeps what is appended`);
  const { size } = found;
  const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
  await file.read(tail, 0, tail.length, size - tail.length);
  const at = tail.lastIndexOf('\n') + 1;
  const torn = tail.toString('utf8', at);
  if (!LINE_START.startsWith(torn.slice(0, LINE_START.length)) || (at === 0 && tail.length < size)) throw foreign(name);
  const end = size - tail.length + at;
  if (torn !== '') await file.truncate(end);
  return { ...(end === 0 ? { n: 0, hash: GENESIS } : readEnd(tail.toString('utf8', 0, at - 1), name)), size: end };
}

function readEnd(lines: string, name: string): { n: number; hash: string } {
  try {
    const { hash, ...fields } = JSON.parse(lines.slice(lines.lastIndexOf('\n') + 1));
    if (Number.isSafeInteger(fields.n) && hash === lineHash(fields)) return { n: fields.n, hash };
  } catch {}
  throw foreign(name);
}

function foreign(name: string): AuditFileError {
  return new AuditFileError(`${name}: its last line is no audit line, so it cannot be continued; move the file away to begin a new one`);
}
