// Denials that come in masses: of each kind the first are told one by one, the rest as a number, so that nobody fills the disk with them. Knows no file and no event's meaning.
import { addressKey } from '../access/address-key.js';
import type { Audit, AuditLine } from './audit.js';

/** For how long lines of a kind are counted together, in milliseconds. */
export const WINDOW_MS = 60_000;
/** Lines of a kind that are told one by one in that time. */
export const TOLD_EACH = 20;
/** Kinds of known principals, and as many of strangers' addresses; what comes from more of them is counted together. */
export const MAX_KINDS = 100;

/** What one principal, or one address without a valid token, was denied, or failed at, of one event. */
interface Kind {
  readonly line: AuditLine;
  count: number;
}

export class Repeats implements Audit {
  readonly #audit: Audit;
  /** Apart, so that strangers cannot hide what a principal does. */
  readonly #kinds = { principal: new Map<string, Kind>(), address: new Map<string, Kind>() };
  #window: NodeJS.Timeout | undefined;

  constructor(audit: Audit) {
    this.#audit = audit;
  }

  record(line: AuditLine): void {
    if (!isRepeatable(line) || this.#count(line) <= TOLD_EACH) this.#audit.record(line);
  }

  async close(): Promise<void> {
    this.#tellRest();
    await this.#audit.close();
  }

  #count(line: AuditLine): number {
    this.#window ??= setTimeout(() => this.#tellRest(), WINDOW_MS).unref();
    const { event, outcome, principal, address = '' } = line;
    const kinds = this.#kinds[principal === null ? 'address' : 'principal'];
    const own = `${event} ${outcome} ${principal ?? addressKey(address)}`;
    const isCrowd = !kinds.has(own) && kinds.size >= MAX_KINDS;
    const key = isCrowd ? `${event} ${outcome}` : own;
    const kind = kinds.get(key) ?? {
      line: isCrowd ? { event, outcome, principal: null } : { event, outcome, principal, address },
      count: 0,
    };
    kinds.set(key, kind);
    return ++kind.count;
  }

  #tellRest(): void {
    clearTimeout(this.#window);
    this.#window = undefined;
    for (const kinds of Object.values(this.#kinds)) {
      for (const { line, count } of kinds.values())
        if (count > TOLD_EACH) this.#audit.record({ ...line, detail: `${count - TOLD_EACH} more within a minute${whose(line)}` });
      kinds.clear();
    }
  }
}

/** Somebody asked, and did not get it: what they do get is told each time, and what nobody asked for as well. */
function isRepeatable({ outcome, principal, address }: AuditLine): boolean {
  return (outcome === 'denied' || outcome === 'failed') && (principal !== null || address !== undefined);
}

const whose = ({ principal, address }: AuditLine): string => (principal === null && address === undefined ? ', of many' : '');
