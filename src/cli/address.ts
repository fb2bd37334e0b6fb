// Which gateway, which session and which token are meant by what a person gives. Knows no request.
import { userInfo } from 'node:os';
import { localUrl } from '../config.js';
import { CommandError } from './failure.js';

/** The command as a person has to type it here: `npx` puts it on no PATH. */
const COMMAND = process.env.npm_command === 'exec' ? 'npx pty-gateway' : 'pty-gateway';

/** What to do without a token, or with one that is not taken. */
export const HOW_TO_GET_A_TOKEN =
  `where the gateway's AUTH_JWT_SECRET is set, this makes one:\n  export PTY_GATEWAY_TOKEN=$(${COMMAND} token --scope pty:control --sub ${userName()} --ttl 8h)\n` +
  'A gateway that was started without a key prints a URL with one: give that URL, or the token in it, with --token or PTY_GATEWAY_TOKEN.';

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'you';
  }
}

/** Where `serve` with the same environment says it is, unless PTY_GATEWAY_URL names another gateway. Throws a CommandError for a PORT that is none. */
export function defaultGateway({ PTY_GATEWAY_URL, PUBLIC_URL, HOST, PORT, TLS_CERT_FILE }: NodeJS.ProcessEnv): string {
  const given = PTY_GATEWAY_URL || PUBLIC_URL;
  if (given) return given;
  const port = PORT || '8080';
  if (!/^\d{1,5}$/.test(port) || Number(port) === 0 || Number(port) > 65_535) {
    throw new CommandError(`PORT is ${JSON.stringify(port)}; expected 1 to 65535, or the gateway's address with --url`);
  }
  return localUrl(HOST || '127.0.0.1', Number(port), TLS_CERT_FILE ? 'https' : 'http').http;
}

export interface Address {
  /** Where the gateway is, without a slash at the end. */
  readonly base: string;
  /** From the fragment `#token=…`, as the gateway prints it at a start without a key. */
  readonly token: string | undefined;
}

export interface SessionAddress {
  /** `ws:` or `wss:`, ending in `/attach` (pty-ws §2.1). */
  readonly attach: string;
  readonly token: string | undefined;
}

/** The gateway at an address. */
export function gatewayAddress(text: string): Address {
  const url = parse(text, 'a gateway, as http://127.0.0.1:8080');
  return {
    base: url.href
      .replace(/^ws/, 'http')
      .replace(/[?#].*$/, '')
      .replace(/\/+$/, ''),
    token: fragment(url).token,
  };
}

/** A session by its `pty_ws_url`, its HTTP address, or the page's link to it (`#session=<instance>/<session>`). */
export function sessionAddress(text: string): SessionAddress {
  const url = parse(text, 'a session, as ws://127.0.0.1:8080/agents/<instance>/sessions/<session>/attach');
  const { base } = gatewayAddress(text);
  const { session, token } = fragment(url);
  const [, instanceId, sessionId] = /^([^/]+)\/([^/]+)$/.exec(session ?? '') ?? [];
  const path = sessionId === undefined ? base : `${base}/agents/${instanceId}/sessions/${sessionId}`;
  if (!/\/agents\/[^/]+\/sessions\/[^/]+(\/attach)?$/.test(path)) {
    throw new CommandError(
      `${plain(url)} is no session's address; \`pty-gateway sessions\` lists them (…/agents/<instance>/sessions/<session>)`,
    );
  }
  return { attach: `${path.replace(/\/attach$/, '')}/attach`.replace(/^http/, 'ws'), token };
}

/** The token to use: what was given for it, be it in the URL that the gateway prints, or what rode in the address. */
export function tokenFrom(given: string | undefined, address: { readonly token: string | undefined }): string {
  const token = given?.trim().replace(/^.*#token=|&.*$/g, '') || address.token;
  if (!token) throw new CommandError(`there is no token; ${HOW_TO_GET_A_TOKEN}`, { code: 'UNAUTHENTICATED' });
  return token;
}

function parse(text: string, expected: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^(https?|wss?):$/.test(url.protocol)) {
    throw new CommandError(`${JSON.stringify(text)} is no address; expected that of ${expected} (http, https, ws or wss)`);
  }
  return url;
}

function fragment(url: URL): { token: string | undefined; session: string | undefined } {
  const fields = new URLSearchParams(url.hash.slice(1));
  return { token: fields.get('token') ?? undefined, session: fields.get('session') ?? undefined };
}

/** Without what may be secret in it. */
const plain = (url: URL) => url.origin + url.pathname;
