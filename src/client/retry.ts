// Which end of a connection is the end of all, and how long to wait after the others. Knows no socket and no timer.
import { closeCode, type GoodbyeReason } from '../errors.js';

/** How the gateway refused an upgrade. */
export interface Refusal {
  /** HTTP status. */
  readonly status: number;
  /** The gateway's own words where it gave some. */
  readonly message: string;
  readonly retryAfterMs?: number;
}

/** How one connection ended. */
export interface ConnectionEnd {
  /** WebSocket close code; 1006 where there was no close frame. */
  readonly code: number;
  readonly message: string;
  readonly refusal?: Refusal;
  readonly goodbye?: { readonly reason: GoodbyeReason; readonly detail?: string };
}

/**
 * Why a client is at its end: the session is over (`session_closed`), this client went (`left`, `stopped`), the token is not taken
 * (`unauthenticated`, `forbidden`), there is no such session (`gone`), the gateway does not understand or take what was asked (`refused`),
 * or it cannot be reached (`unreachable`).
 */
export type EndReason = 'session_closed' | 'left' | 'stopped' | 'unauthenticated' | 'forbidden' | 'gone' | 'refused' | 'unreachable';

export interface Retry {
  /** Milliseconds before the first new attempt; each later one waits twice as long as the one before. */
  readonly firstMs: number;
  /** The longest wait, in milliseconds. */
  readonly maxMs: number;
  /** Attempts in a row that may fail. */
  readonly attempts: number;
  /** The same as long as the client has never been live. */
  readonly attemptsBeforeLive: number;
}

export const defaultRetry: Retry = { firstMs: 250, maxMs: 15_000, attempts: 1000, attemptsBeforeLive: 5 };

/** The least wait after a rate limit, in milliseconds. */
export const RATE_LIMITED_MS = 10_000;
/** The longest wait that a gateway's Retry-After can impose, in milliseconds. */
export const MAX_RETRY_AFTER_MS = 300_000;

const byCloseCode: Readonly<Record<number, EndReason>> = {
  [closeCode.protocol]: 'refused',
  [closeCode.authentication]: 'unauthenticated',
  [closeCode.authorization]: 'forbidden',
  [closeCode.gone]: 'gone',
};

/** What an end means that came without words. */
const wordless: Readonly<Record<number, string>> = {
  [closeCode.protocol]: 'the gateway does not understand this client',
  [closeCode.authentication]: 'the token is not taken any more',
  [closeCode.authorization]: 'this session is not allowed any more',
  [closeCode.gone]: 'there is no such session any more',
  [closeCode.rateLimited]: 'the gateway is asked for too much',
};

/** The end of a connection in words: the peer's own, or what its close code says. */
export const endInWords = (code: number, reason: string): string => reason || (wordless[code] ?? 'the connection was lost');

const byStatus: Readonly<Record<number, EndReason>> = { 401: 'unauthenticated', 403: 'forbidden', 404: 'gone', 410: 'gone' };

/** Statuses after which trying again may help. */
const passing = (status: number): boolean => status >= 500 || status === 408 || status === 425 || status === 429;

/** Undefined if it is worth coming back. */
export function finalReason({ code, refusal, goodbye }: ConnectionEnd): EndReason | undefined {
  if (refusal) return passing(refusal.status) ? undefined : (byStatus[refusal.status] ?? 'refused');
  if (goodbye?.reason === 'session_closed') return goodbye.detail === 'left' ? 'left' : 'session_closed';
  // The code tells a token that is good no longer from one who was sent away.
  if (goodbye?.reason === 'principal_revoked') return byCloseCode[code] ?? 'forbidden';
  return byCloseCode[code];
}

/** Milliseconds to wait after the `attempt`th failure in a row (from 1); `random` is in [0, 1). */
export function waitMs(end: ConnectionEnd, attempt: number, retry: Retry, random: number): number {
  const full = Math.min(retry.maxMs, retry.firstMs * 2 ** (attempt - 1));
  return Math.round(full * (1 + random) * 0.5) + leastWaitMs(end);
}

function leastWaitMs({ code, refusal, goodbye }: ConnectionEnd): number {
  if (refusal?.retryAfterMs !== undefined) return Math.min(refusal.retryAfterMs, MAX_RETRY_AFTER_MS);
  const limited = code === closeCode.rateLimited || refusal?.status === 429 || goodbye?.reason === 'rate_limited';
  return limited ? RATE_LIMITED_MS : 0;
}
