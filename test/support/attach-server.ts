// The WebSocket side of the gateway on a free port, over sessions in memory; and a client that keeps all it is sent.
import { createHmac } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import Fastify, { type FastifyInstance } from 'fastify';
import { WebSocket } from 'ws';
import auditPlugin from '../../plugins/audit.js';
import auth from '../../plugins/auth.js';
import context from '../../plugins/context.js';
import errors from '../../plugins/errors.js';
import extensionNegotiation from '../../plugins/extension-negotiation.js';
import rateLimit from '../../plugins/rate-limit.js';
import websocket from '../../plugins/websocket.js';
import { attachRoutes } from '../../routes/attach.js';
import type { AuditLine } from '../../src/audit/audit.js';
import { readConfig } from '../../src/config.js';
import { newId } from '../../src/protocol/ids.js';
import { EXTENSION_URI } from '../../src/protocol/names.js';
import type { Sessions } from '../../src/session/registry.js';
import { MemorySession } from './memory-session.js';

const SECRET = 'a-secret-of-tests-a-secret-of-tests-0123456789';
/** How long a conversation waits for its next line, in milliseconds. */
const PATIENCE_MS = 5_000;

export interface AttachServer {
  readonly app: FastifyInstance;
  readonly port: number;
  readonly audit: AuditLine[];
  token(scope?: string, claims?: object): string;
  newSession(options?: ConstructorParameters<typeof MemorySession>[0]): MemorySession;
  connect(session: { readonly id: string }, options?: ConnectOptions): Promise<Client>;
  /** Connects, and has read the hello. */
  greet(session: MemorySession, options?: ConnectOptions): Promise<Client>;
  close(): Promise<void>;
}

export interface ConnectOptions {
  readonly scope?: string;
  readonly token?: string;
  readonly protocols?: string[];
  readonly headers?: Record<string, string>;
}

export async function startAttachServer(env: Record<string, string> = {}): Promise<AttachServer> {
  const config = readConfig({ AUTH_JWT_SECRET: SECRET, PORT: '0', LOG_LEVEL: 'silent', ATTACH_RATE_LIMIT_MAX: '100000', ...env });
  const sessions: MemorySession[] = [];
  const audit: AuditLine[] = [];
  const app = Fastify();
  await app.register(errors);
  await app.register(context, { config, agents: { get: () => undefined, list: () => [] } });
  await app.register(auditPlugin, { audit: { record: (line) => void audit.push(line), close: async () => {} } });
  await app.register(auth);
  await app.register(rateLimit);
  app.decorate('sessions', { find: async (_inst: string, id: string) => sessions.find((session) => session.id === id) } as Sessions);
  await app.register(websocket);
  await app.register(extensionNegotiation);
  await app.register(attachRoutes);
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const token = (scope = 'pty:control', claims: object = {}) =>
    sign({ sub: 'alice', scope, exp: Math.floor(Date.now() / 1000) + 60, ...claims });
  const greet: AttachServer['connect'] = ({ id }, { scope, token: given = token(scope), ...options } = {}) =>
    connect(port, id, given, options);
  return {
    app,
    port,
    audit,
    token,
    newSession: (options) => {
      const session = new MemorySession(options);
      sessions.push(session);
      return session;
    },
    connect: greet,
    greet: async (session, options) => {
      const client = await greet(session, options);
      await client.until('binding_hello');
      return client;
    },
    close: () => app.close(),
  };
}

function sign(claims: object): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}`;
}

export interface Refusal {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: { error: { code: string; message: string } };
}

function connect(
  port: number,
  sessionId: string,
  token: string,
  { protocols = ['pty-ws.v1'], headers = {} }: Omit<ConnectOptions, 'token' | 'scope'>,
): Promise<Client> {
  const authorization: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` };
  const ws = new WebSocket(`ws://127.0.0.1:${port}/agents/inst-a/sessions/${sessionId}/attach`, protocols, {
    headers: { ...authorization, ...headers },
  });
  const client = new Client(ws);
  return new Promise((resolve, reject) => {
    ws.once('open', () => resolve(client));
    ws.once('error', reject);
    ws.once('unexpected-response', async (_, response) => {
      const chunks = await response.toArray();
      const refusal: Refusal = {
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: JSON.parse(Buffer.concat(chunks).toString()),
      };
      reject(refusal);
    });
  });
}

export type Told = { op: string; id: string; ts: string; sequence?: number; payload: Record<string, unknown>; [key: string]: unknown };

/** Keeps every frame, and reads them one after the other as a conversation. */
export class Client {
  readonly ws: WebSocket;
  readonly frames: Array<Told | Buffer> = [];
  closed: { code: number; reason: string } | undefined;
  #read = 0;
  #wake = () => {};

  constructor(ws: WebSocket) {
    this.ws = ws;
    ws.on('message', (data: Buffer, isBinary) => {
      this.frames.push(isBinary ? Buffer.from(data) : JSON.parse(data.toString()));
      this.#wake();
    });
    ws.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() };
      this.#wake();
    });
    ws.on('error', () => {});
  }

  say(op: string, payload: object = {}, more: object = {}): string {
    const frame = { op, id: newId(), ts: new Date().toISOString(), payload, ...more };
    this.ws.send(JSON.stringify(frame));
    return frame.id;
  }

  join(payload: object = {}, more: object = {}): string {
    return this.say('pty.join_session', { role: 'controller', ...payload }, { extensions: [EXTENSION_URI], ...more });
  }

  type(text: string): string {
    return this.say('pty.session_input', { data: Buffer.from(text).toString('base64') });
  }

  /** The next frame, in words: an op, a kind, or for an Error its code. */
  async next(): Promise<string> {
    return nameOf(await this.frame());
  }

  /** The names of the next so many frames. */
  async names(count: number): Promise<string[]> {
    const names: string[] = [];
    while (names.length < count) names.push(await this.next());
    return names;
  }

  async frame(): Promise<Told | Buffer> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const next = this.frames[this.#read];
      if (next) {
        this.#read += 1;
        return next;
      }
      if (this.closed) throw new Error(`closed with ${this.closed.code} after ${JSON.stringify(this.frames.map(nameOf).slice(-8))}`);
      await this.#news(deadline);
    }
  }

  /** The next frame of that name; those before it are passed over. */
  async until(name: string): Promise<Told> {
    for (;;) {
      const frame = await this.frame();
      if (nameOf(frame) === name) return frame as Told;
    }
  }

  async answer(id: string): Promise<Told> {
    for (;;) {
      const frame = await this.frame();
      if (!Buffer.isBuffer(frame) && frame.id === id) return frame;
    }
  }

  async closeCode(): Promise<number> {
    const deadline = Date.now() + PATIENCE_MS;
    while (!this.closed) await this.#news(deadline);
    return this.closed.code;
  }

  /** Greets, joins, and reads the flush. */
  async attach(payload: object = {}, more: object = {}): Promise<Told[]> {
    this.join(payload, more);
    const from = this.frames.length;
    await this.until('Keyframe');
    return this.frames.slice(from, this.#read).filter((frame): frame is Told => !Buffer.isBuffer(frame));
  }

  async #news(deadline: number): Promise<void> {
    const left = deadline - Date.now();
    if (left <= 0) throw new Error(`nothing came for ${PATIENCE_MS} ms after ${JSON.stringify(this.frames.map(nameOf).slice(-8))}`);
    const news = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    const ac = new AbortController();
    await Promise.race([news, pause(left, undefined, { signal: ac.signal }).catch(() => {})]);
    ac.abort();
  }
}

export function nameOf(frame: Told | Buffer): string {
  if (Buffer.isBuffer(frame)) return 'binary';
  const { op, payload } = frame;
  if (op === 'pty.session_frame') return payload.kind === 'Error' ? String(payload.code) : String(payload.kind);
  return op === 'Error' ? String(payload.code) : op;
}
