// Somebody of whom the audit is to tell: a principal and a trace of its own, so that its lines can be told from all others. Knows no event.
import { randomBytes, randomUUID } from 'node:crypto';
import { WebSocket } from 'ws';
import type { Answer, Gateway } from '../routes/gateway.js';
import { Client, type Refusal } from '../support/attach-server.js';

export interface Going {
  readonly scope?: string;
  readonly sessions?: string[];
  readonly instances?: string[];
  readonly token?: string;
  readonly protocols?: string[];
  readonly headers?: Record<string, string>;
  /** Behind the address of the session. */
  readonly query?: string;
}

export class Person {
  readonly name = `person ${randomUUID()}`;
  readonly trace = randomBytes(16).toString('hex');
  readonly gateway: Gateway;
  /** All that it was ever given, to be looked for where it may not stand. */
  readonly tokens: string[] = [];

  constructor(gateway: Gateway) {
    this.gateway = gateway;
  }

  call(method: string, path: string, { body, ...going }: Going & { readonly body?: unknown } = {}): Promise<Answer> {
    const headers = { ...this.#headers, ...going.headers };
    return this.gateway.call(method, path, { token: this.#token(going), headers, ...(body !== undefined && { body }) });
  }

  /** Attaches, and has read the hello. Rejects with a Refusal. */
  async attach(session: { readonly pty_ws_url: string }, going: Going = {}): Promise<Client> {
    const token = this.#token(going);
    const ws = new WebSocket(session.pty_ws_url + (going.query ?? ''), going.protocols ?? ['pty-ws.v1'], {
      headers: { ...this.#headers, ...(token && { authorization: `Bearer ${token}` }), ...going.headers },
    });
    const client = new Client(ws);
    await new Promise<void>((resolve, reject) => {
      ws.once('open', resolve);
      ws.once('error', reject);
      ws.once('unexpected-response', (_, { statusCode }) => reject({ status: statusCode } as Refusal));
    });
    await client.until('binding_hello');
    return client;
  }

  async join(session: { readonly pty_ws_url: string }, role = 'controller', going: Going = {}, more: object = {}): Promise<Client> {
    const client = await this.attach(session, going);
    await client.attach({ role }, more);
    return client;
  }

  /** The lines that are about it. */
  lines(): Array<Record<string, unknown>> {
    return this.gateway.audit().filter(({ principal, trace_id }) => principal === this.name || trace_id === this.trace);
  }

  /** The same, each as `event outcome role: detail`, as far as there are such. */
  told(): string[] {
    return this.lines().map(({ event, outcome, role, detail }) => {
      const what = [event, outcome, role].filter((part) => part !== undefined).join(' ');
      return detail === undefined ? what : `${what}: ${detail}`;
    });
  }

  get #headers(): Record<string, string> {
    return { traceparent: `00-${this.trace}-00f067aa0ba902b7-01` };
  }

  #token({ scope, sessions, instances, token }: Going): string {
    const given =
      token ??
      this.gateway.token(scope as 'pty:control', { sub: this.name, ...(sessions && { sessions }), ...(instances && { instances }) });
    if (given !== '') this.tokens.push(given);
    return given;
  }
}

/** Hangs up, and has done so. */
export async function leave(client: Client): Promise<void> {
  client.ws.close();
  await client.closeCode();
}
