// One WebSocket as the client wants it, and how a browser opens one. Knows no frame.
import { BEARER_PREFIX, type Subprotocol } from '../protocol/names.js';
import { toBase64Url } from './base64.js';
import { type ConnectionEnd, endInWords, type Refusal } from './retry.js';

export interface Target {
  /** `ws:` or `wss:`, ending in `/attach` (pty-ws §2.1). */
  readonly url: string;
  readonly subprotocol: Subprotocol;
  readonly token: string | undefined;
}

/** `closed` comes once, last, and also when the upgrade was refused. */
export interface SocketEvents {
  opened(): void;
  message(data: string | Uint8Array): void;
  closed(end: ConnectionEnd): void;
}

export interface Socket {
  send(data: string | Uint8Array): void;
  /** Ends it in order. */
  close(code: number): void;
  /** Ends it without waiting for the peer. */
  drop(): void;
  /** Stops and goes on reading; absent where that cannot be done. */
  pause?(on: boolean): void;
}

export type Dial = (target: Target, events: SocketEvents) => Socket;

/** What the client uses of the standard WebSocket. */
export interface WebSocketLike {
  binaryType: string;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  send(data: string | Uint8Array): void;
  close(code?: number, reason?: string): void;
}
export type WebSocketClass = new (url: string, protocols: string[]) => WebSocketLike;

/** A browser tells no header of its own, so the token is offered as a subprotocol, which the gateway never echoes (pty-ws §2.2). */
export function dialWith(WebSocket: WebSocketClass): Dial {
  return (target, events) => {
    const bearer = target.token === undefined ? [] : [BEARER_PREFIX + toBase64Url(target.token)];
    const socket = new WebSocket(target.url, [target.subprotocol, ...bearer]);
    listen(socket, events, () => whyRefused(target));
    return asSocket(socket);
  };
}

interface MessageEvent {
  readonly data: unknown;
}
interface CloseEvent {
  readonly code: number;
  readonly reason: string;
}

/** Why no connection came about: the gateway's refusal, or words about the network, or nothing that can be learned. */
export type Why = Refusal | string | undefined;

/** `why` is asked when a socket ends that never opened. */
export function listen(socket: WebSocketLike, events: SocketEvents, why: () => Promise<Why>): void {
  let opened = false;
  socket.binaryType = 'arraybuffer';
  socket.onopen = () => {
    opened = true;
    events.opened();
  };
  socket.onmessage = ({ data }: MessageEvent) => events.message(typeof data === 'string' ? data : new Uint8Array(data as ArrayBuffer));
  // The close event that follows tells all there is.
  socket.onerror = () => {};
  socket.onclose = async ({ code, reason }: CloseEvent) => {
    if (opened) events.closed({ code, message: endInWords(code, reason) });
    else events.closed({ code, ...inWords(await why()) });
  };
}

function inWords(why: Why): { message: string; refusal?: Refusal } {
  if (typeof why === 'object') return { message: why.message, refusal: why };
  return { message: why ?? 'the gateway cannot be reached' };
}

export function asSocket(socket: WebSocketLike, drop: () => void = () => socket.close()): Socket {
  return { send: (data) => socket.send(data), close: (code) => socket.close(code), drop };
}

/** How long the question may take, in milliseconds. */
const WHY_MS = 5000;

/** A browser hides the status of a refused upgrade; asking for the session itself gets the same refusal, to be read. */
async function whyRefused({ url, token }: Target): Promise<Refusal | undefined> {
  const session = url.replace(/^ws/, 'http').replace(/\/attach$/, '');
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  try {
    const response = await fetch(session, { headers, signal: AbortSignal.timeout(WHY_MS) });
    if (response.ok) return undefined;
    return refusal(response.status, await response.text(), response.headers.get('retry-after'));
  } catch {
    return undefined;
  }
}

/** The gateway's refusal as it says it: `{"error": {"code", "message"}}`, and Retry-After in seconds. */
export function refusal(status: number, body: string, retryAfter: string | null | undefined): Refusal {
  const seconds = Number(retryAfter ?? Number.NaN);
  return { status, message: messageIn(body) ?? `the gateway answered ${status}`, ...(seconds >= 0 && { retryAfterMs: seconds * 1000 }) };
}

function messageIn(body: string): string | undefined {
  try {
    const message: unknown = JSON.parse(body)?.error?.message;
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}
