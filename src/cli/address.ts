// Which gateway, which session and which token are meant by what a person gives. Knows no request.

/** Something is wrong with what was asked, or cannot be done: one sentence that says what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

/** What to do without a token, or with one that is not taken. */
export const HOW_TO_GET_A_TOKEN =
  'give a token with --token or PTY_GATEWAY_TOKEN; `pty-gateway token --scope pty:control --sub you` makes one where AUTH_JWT_SECRET is set, ' +
  'and a gateway started without a key prints a URL with one';

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

/** The token to use: what was given for it, or what rode in the address. */
export function tokenFrom(given: string | undefined, address: { readonly token: string | undefined }): string {
  const token = given?.trim() || address.token;
  if (!token) throw new CommandError(`no token: ${HOW_TO_GET_A_TOKEN}`);
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
