// One attempt to deliver one notification (A2A 1.0 §4.3.3). Knows no queue and no other attempt.
import { type Dispatcher, request } from 'undici';
import type { PushConfig } from '../push.js';
import { AddressRefused } from './address-guard.js';
import { readRetryAfter } from './retries.js';

/** How long an attempt may take, in milliseconds. */
const ATTEMPT_MS = 10_000;
/** How much of an answer is read so that its connection can be used again, in bytes; of a longer one the connection is closed. */
const ANSWER_BYTES = 64 * 1024;

/** What became of an attempt. `why` is for the operator and has nothing in it that is secret. */
export type Attempt =
  | { readonly is: 'delivered' }
  | { readonly is: 'refused'; readonly why: string }
  | { readonly is: 'failed'; readonly why: string; readonly retryAfterMs?: number | undefined };

/** Posts a body. `failed` may be tried again; what else the receiver says, a redirect among it, is `refused`. Never rejects. */
export async function post(config: PushConfig, body: Buffer, dispatcher: Dispatcher, canceled: AbortSignal): Promise<Attempt> {
  try {
    const signal = AbortSignal.any([canceled, AbortSignal.timeout(ATTEMPT_MS)]);
    const answer = await request(config.url, { method: 'POST', headers: headersOf(config), body, dispatcher, signal });
    // What the receiver says beside its status is nobody's concern: it has taken the notification, or not.
    await answer.body.dump({ limit: ANSWER_BYTES, signal }).catch(() => {});
    return judged(answer.statusCode, answer.headers['retry-after']);
  } catch (error) {
    const why = reasonOf(error);
    return error instanceof AddressRefused ? { is: 'refused', why } : { is: 'failed', why };
  }
}

function headersOf({ token, authentication }: PushConfig): Record<string, string> {
  return {
    'content-type': 'application/a2a+json',
    'user-agent': 'pty-gateway',
    ...(token === undefined ? {} : { 'x-a2a-notification-token': token }),
    ...(authentication?.credentials === undefined ? {} : { authorization: `${authentication.scheme} ${authentication.credentials}` }),
  };
}

function judged(status: number, retryAfter: string | string[] | undefined): Attempt {
  if (status >= 200 && status < 300) return { is: 'delivered' };
  const why = `HTTP ${status}`;
  if (status < 500 && status !== 429) return { is: 'refused', why };
  return { is: 'failed', why, retryAfterMs: readRetryAfter([retryAfter].flat()[0]) };
}

function reasonOf(error: unknown): string {
  const { name, code, message } = error as NodeJS.ErrnoException;
  if (name === 'TimeoutError') return `no answer within ${ATTEMPT_MS} ms`;
  return error instanceof AddressRefused ? message : (code ?? name);
}
