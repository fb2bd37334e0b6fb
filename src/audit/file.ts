// Writes the audit lines into a file, each chained to the one before by SHA-256. Knows no request; never makes anyone wait.
import type { FileHandle } from 'node:fs/promises';
import type { Audit, AuditLine } from './audit.js';
import { type ChainEnd, type Link, lineHash } from './chain.js';
import type { Signer } from './checkpoint.js';
import { continued, openEnd, putAside } from './rotation.js';

/** Lines that wait for the disk; what comes while so many wait is counted and dropped. */
const MAX_WAITING_LINES = 10_000;
/** Lines in one write. */
const BATCH_LINES = 256;
/** Milliseconds until a failed write is tried again. */
const RETRY_MS = 1000;
/** Longest text of one field, in characters. */
const MAX_FIELD = 512;
/** Lines, and milliseconds, that the chain may be ahead of the newest signature. */
const CHECKPOINT_LINES = 1000;
const CHECKPOINT_MS = 60_000;
/** Size from which a file is put aside and another one begun, in bytes, unless told otherwise. */
const ROTATE_BYTES = 64 * 1024 * 1024;

interface Options {
  readonly file: string;
  readonly replicaId: string;
  /** Size from which the file is put aside as `NAME.<its last line>.jsonl` and another one continues it, in bytes; 64 MiB if absent. */
  readonly rotateBytes?: number;
  /** Signs the chain now and then: after CHECKPOINT_LINES lines, CHECKPOINT_MS after the first that is not signed yet, and at the end. */
  readonly sign?: Signer;
  /** Told once when writing begins to fail, and once (with undefined) when it works again. */
  readonly onTrouble?: (sentence: string | undefined) => void;
  /** Told of each line that is lost, since too many wait. */
  readonly onDropped?: () => void;
  readonly now?: () => number;
  /** Appends bytes; for tests of a disk that fails. */
  readonly write?: (file: FileHandle, bytes: Uint8Array) => Promise<void>;
}

/** Opens or continues the file (mode 0600). Throws AuditFileError if it cannot be opened, is no regular file, or its last line cannot be read. */
export async function openAuditFile(options: Options): Promise<Audit> {
  return new AuditFile(options, await openEnd(options.file));
}

/** A waiting line with the time of its event, or how many lines were lost at this place. */
type Waiting = { readonly ts: number; readonly line: AuditLine } | { readonly ts: number; dropped: number };
const checkpoint: AuditLine = { event: 'checkpoint', outcome: 'done', principal: null };

/** The first line of a file that continues another one. */
const rotation: AuditLine = { event: 'rotate', outcome: 'done', principal: null };

class AuditFile implements Audit {
  readonly #options: Options;
  #file: FileHandle;
  #end: ChainEnd;
  readonly #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #failing = false;
  #full = false;
  /** Lines since the last checkpoint. */
  #unsigned = 0;
  #checkpointTimer: NodeJS.Timeout | undefined;
  #closed = false;
  #wake: (() => void) | undefined;

  constructor(options: Options, { file, end }: { readonly file: FileHandle; readonly end: ChainEnd }) {
    this.#options = options;
    this.#file = file;
    this.#end = end;
    if (continued(end)) this.record(rotation);
  }

  record(line: AuditLine): void {
    if (this.#closed) return;
    this.#wait(line);
    if (this.#options.sign) this.#planCheckpoint();
  }

  #planCheckpoint(): void {
    this.#unsigned++;
    this.#checkpointTimer ??= setTimeout(() => this.#signNow(), CHECKPOINT_MS).unref();
    if (this.#unsigned >= CHECKPOINT_LINES) this.#signNow();
  }

  #signNow(): void {
    clearTimeout(this.#checkpointTimer);
    this.#checkpointTimer = undefined;
    if (this.#unsigned > 0) this.#wait(checkpoint);
    this.#unsigned = 0;
  }

  #wait(line: AuditLine): void {
    const ts = this.#options.now?.() ?? Date.now();
    const last = this.#waiting.at(-1);
    if (this.#waiting.length < MAX_WAITING_LINES) this.#waiting.push({ ts, line });
    else {
      if (last && 'dropped' in last) last.dropped++;
      else this.#waiting.push({ ts, dropped: 1 });
      this.#options.onDropped?.();
    }
    this.#writing ??= this.#drain();
  }

  async close(): Promise<void> {
    this.#signNow();
    this.#closed = true;
    this.#wake?.();
    await this.#writing;
    await this.#file.datasync().catch(() => {});
    await this.#file.close();
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#rotateIfFull();
      const failure = await this.#writeBatch();
      if (failure === undefined) this.#recovered();
      else if (this.#closed) break;
      else await this.#pause(failure);
    }
    this.#writing = undefined;
  }

  /** What follows goes on in a file of its own. */
  async #rotateIfFull(): Promise<void> {
    const { file: name, rotateBytes = ROTATE_BYTES, now = Date.now } = this.#options;
    if (this.#end.size < rotateBytes) return;
    try {
      await this.#file.datasync();
      const next = await putAside(name, this.#end);
      await this.#file.close();
      this.#file = next.file;
      this.#end = next.end;
      this.#waiting.unshift({ ts: now(), line: rotation });
      this.#full = false;
    } catch (error) {
      this.#cannotRotate((error as Error).message);
    }
  }

  /** Told once; the file grows meanwhile. */
  #cannotRotate(why: string): void {
    if (!this.#full) this.#options.onTrouble?.(`the audit file ${this.#options.file} is full and cannot be put aside: ${why}`);
    this.#full = true;
  }

  /** Takes lines from the queue only once they are in the file; a half-written batch is cut off again. */
  async #writeBatch(): Promise<string | undefined> {
    const batch = this.#waiting.slice(0, BATCH_LINES);
    let { n, hash } = this.#end;
    let text = '';
    for (const waiting of batch) {
      const fields = this.#fields(waiting, { n, hash });
      n++;
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

  #fields(waiting: Waiting, before: Link): Record<string, unknown> {
    const line: AuditLine =
      'line' in waiting
        ? waiting.line
        : { event: 'dropped', outcome: 'failed', principal: null, detail: `${waiting.dropped} lines were lost` };
    const detail = line === checkpoint ? this.#options.sign?.(before) : line.detail;
    return {
      ts: new Date(waiting.ts).toISOString(),
      n: before.n + 1,
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
      ...(detail !== undefined && { detail: short(detail) }),
      prev_hash: before.hash,
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
