// Speaks A2A to a gateway over both HTTP bindings, as a test reads it. Knows no assertion.
import { randomUUID } from 'node:crypto';
import type { Answer, Gateway } from '../routes/gateway.js';

interface Call {
  readonly token?: string;
  readonly headers?: Record<string, string>;
}

// biome-ignore lint/suspicious/noExplicitAny: an event may be anything; the test says what it expects.
type Event = any;

export interface Speaker {
  /** HTTP+JSON. `path` begins behind /a2a/v1. */
  rest(method: string, path: string, body?: unknown, call?: Call): Promise<Answer>;
  /** JSON-RPC: the answer's body is the envelope. */
  rpc(method: string, params?: unknown, call?: Call): Promise<Answer>;
  /** The events of a streaming operation over HTTP+JSON, as they come. */
  stream(method: string, path: string, body?: unknown, call?: Call): Promise<Events>;
  /** The same over JSON-RPC. */
  rpcStream(method: string, params: unknown, call?: Call): Promise<Events>;
}

export interface Events extends AsyncIterable<Event> {
  readonly response: Response;
  /** All until the end. */
  all(): Promise<Event[]>;
  /** Hangs up. */
  leave(): void;
}

/** A message of a user. */
export function message(text: string, more: object = {}): object {
  return { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more };
}

export function speakTo(gateway: Gateway, agent = 'free', given: Call = {}): Speaker {
  const base = `/agents/${agent}/a2a`;
  const headersOf = (call: Call) => ({ 'a2a-version': '1.0', ...given.headers, ...call.headers });
  const tokenOf = (call: Call) => call.token ?? given.token ?? gateway.token();
  const envelope = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 1, method, ...(params !== undefined && { params }) });

  async function open(method: string, path: string, body: unknown, call: Call = {}): Promise<Events> {
    const leaving = new AbortController();
    const response = await fetch(gateway.base + base + path, {
      method,
      signal: leaving.signal,
      headers: {
        authorization: `Bearer ${tokenOf(call)}`,
        accept: 'text/event-stream',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headersOf(call),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return events(response, () => leaving.abort());
  }

  return {
    rest: (method, path, body, call = {}) =>
      gateway.call(method, `${base}/v1${path}`, { token: tokenOf(call), headers: headersOf(call), ...(body !== undefined && { body }) }),
    rpc: (method, params, call = {}) =>
      gateway.call('POST', `${base}/jsonrpc`, { token: tokenOf(call), headers: headersOf(call), body: envelope(method, params) }),
    stream: (method, path, body, call) => open(method, `/v1${path}`, body, call),
    rpcStream: (method, params, call) => open('POST', '/jsonrpc', envelope(method, params), call),
  };
}

function events(response: Response, leave: () => void): Events {
  async function* read() {
    let rest = '';
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      const pieces = (rest + Buffer.from(chunk).toString()).split('\n\n');
      rest = pieces.pop() ?? '';
      for (const piece of pieces) if (piece.startsWith('data: ')) yield JSON.parse(piece.slice(6));
    }
  }
  const all = async () => {
    const found: Event[] = [];
    for await (const event of read()) found.push(event);
    return found;
  };
  return { response, leave, all, [Symbol.asyncIterator]: read };
}
