// Asks a gateway over HTTP; whatever goes wrong is a sentence that says what to do. Knows no route.
import { CommandError, HOW_TO_GET_A_TOKEN } from './address.js';
import { fetchWithin } from './fetch.js';
import type { Gateway } from './gateway.js';

/** How long an answer may take, in milliseconds. */
const ANSWER_MS = 15_000;

/** The gateway answered, and with no 2xx. */
export class Refused extends CommandError {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Nobody answered. */
export class Unreachable extends CommandError {}

export interface Asked {
  readonly method?: 'GET' | 'POST' | 'PUT';
  readonly body?: object;
}

/** Asks for JSON below the gateway's base. Throws a CommandError. */
export async function askJson<T>({ base, token }: Gateway, path: string, asked: Asked = {}): Promise<T> {
  const response = await fetched(`${base}${path}`, token, base, asked);
  const body = await response.text();
  if (!response.ok) throw new Refused(response.status, whatToDo(response.status, messageIn(body), base));
  try {
    return JSON.parse(body) as T;
  } catch {
    throw new CommandError(`${base} does not answer as a gateway does; is the address right?`);
  }
}

async function fetched(url: string, token: string, base: string, { method = 'GET', body }: Asked): Promise<Response> {
  try {
    return await fetchWithin(ANSWER_MS, url, {
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
function messageIn(body: string): string | undefined {
  try {
    const message: unknown = JSON.parse(body)?.error?.message;
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}
