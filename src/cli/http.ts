// Asks a gateway over HTTP; whatever goes wrong is a sentence that says what to do. Knows no route.
import { HOW_TO_GET_A_TOKEN } from './address.js';
import { CommandError } from './failure.js';
import { fetchWithin } from './fetch.js';
import type { Gateway } from './gateway.js';

/** How long an answer may take, in milliseconds. */
const ANSWER_MS = 15_000;

/** The gateway answered, and with no 2xx. */
export class Refused extends CommandError {
  readonly status: number;
  constructor(status: number, code: string, message: string) {
    super(message, { code });
    this.status = status;
  }
}

/** Nobody answered. */
export class Unreachable extends CommandError {
  constructor(message: string) {
    super(message, { code: 'UNREACHABLE' });
  }
}

export interface Asked {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly body?: object;
  /** How long the answer may take, in milliseconds. */
  readonly withinMs?: number;
}

/** Asks for JSON below the gateway's base; undefined where the answer has no body (204). Throws a CommandError. */
export async function askJson<T>(gateway: Gateway, path: string, asked: Asked = {}): Promise<T> {
  const body = await askBytes(gateway, path, asked);
  if (body.length === 0) return undefined as T;
  try {
    return JSON.parse(body.toString()) as T;
  } catch {
    throw new CommandError(`${gateway.base} does not answer as a gateway does; is the address right?`);
  }
}

/** As `askJson`, for whatever is answered. */
export async function askBytes({ base, token }: Gateway, path: string, asked: Asked = {}): Promise<Buffer> {
  const response = await fetched(`${base}${path}`, token, base, asked);
  const body = Buffer.from(await response.arrayBuffer());
  if (response.ok) return body;
  const { code = 'FAILED', message } = errorIn(body.toString());
  throw new Refused(response.status, code, whatToDo(response.status, message, base));
}

async function fetched(url: string, token: string, base: string, { method = 'GET', body, withinMs = ANSWER_MS }: Asked): Promise<Response> {
  try {
    return await fetchWithin(withinMs, url, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
  } catch (error) {
    const { cause, message } = error as Error & { cause?: NodeJS.ErrnoException };
    throw new Unreachable(
      `${base} cannot be reached (${cause?.code ?? cause?.message ?? message}); give the gateway's address with --url, or start one with \`pty-gateway serve\``,
    );
  }
}

function whatToDo(status: number, message: string | undefined, base: string): string {
  const said = message ?? `${base} answered ${status}`;
  if (status === 401) return `the token is not taken: ${said}; ${HOW_TO_GET_A_TOKEN}`;
  if (status === 404 && message === undefined) return `${said}; is this a gateway's address?`;
  return said;
}

/** The gateway's own words (contract: `{"error": {"code", "message"}}`). */
function errorIn(body: string): { code?: string; message?: string } {
  try {
    const { code, message } = JSON.parse(body)?.error ?? {};
    return { ...(typeof code === 'string' && { code }), ...(typeof message === 'string' && { message }) };
  } catch {
    return {};
  }
}
