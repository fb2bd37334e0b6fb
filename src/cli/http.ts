// Asks a gateway over HTTP; whatever goes wrong is a sentence that says what to do. Knows no route.
import { CommandError, HOW_TO_GET_A_TOKEN } from './address.js';

/** How long an answer may take, in milliseconds. */
const ANSWER_MS = 15_000;

/** GETs JSON below the gateway's base. Throws a CommandError. */
export async function getJson<T>(base: string, path: string, token: string): Promise<T> {
  const response = await fetched(`${base}${path}`, token, base);
  const body = await response.text();
  if (!response.ok) throw new CommandError(whatToDo(response.status, messageIn(body), base));
  try {
    return JSON.parse(body) as T;
  } catch {
    throw new CommandError(`${base} does not answer as a gateway does; is the address right?`);
  }
}

async function fetched(url: string, token: string, base: string): Promise<Response> {
  try {
    return await fetch(url, { headers: { authorization: `Bearer ${token}` }, signal: AbortSignal.timeout(ANSWER_MS) });
  } catch (error) {
    const { cause, message } = error as Error & { cause?: NodeJS.ErrnoException };
    throw new CommandError(
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
