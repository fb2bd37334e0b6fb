// The whole gateway on a free port, with files and terminals of its own. Knows no assertion.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { pino } from 'pino';
import WebSocket from 'ws';
import type { Scope } from '../../src/access/principal.js';
import { mintToken } from '../../src/access/token.js';
import { buildApp, listen } from '../../src/app.js';
import { readConfig } from '../../src/config.js';
import { loggerOptions } from '../../src/logging/logger.js';
import { EXTENSION_URI } from '../../src/protocol/names.js';

export const SECRET = 'a secret of the tests, long enough for HS256';
/** Milliseconds after which a gateway that closes lets go of connections. */
const UNUSED_CONNECTIONS_MS = 1000;
const shell = { name: 'Shell', command: ['/bin/bash', '--noprofile', '--norc'], env: { PS1: '$ ' } };

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: an answer may be anything; the test says what it expects.
  readonly json: any;
}

interface Call {
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** A frame, as the test reads it. */
export interface Seen {
  readonly op: string;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly payload: any;
}

export interface Client {
  readonly clientId: string;
  /** The next frame, read or not, for which the test says yes. */
  until(wanted: (frame: Seen) => boolean): Promise<Seen>;
  /** The code with which the connection was closed. */
  readonly closed: Promise<number>;
}

export interface Gateway {
  readonly app: FastifyInstance;
  readonly base: string;
  readonly dataDir: string;
  token(scope?: Scope, more?: { sub?: string; instances?: string[]; sessions?: string[] }): string;
  call(method: string, path: string, call?: Call): Promise<Answer>;
  /** A session of `free`, an agent that may be told what to run. */
  session(body?: object): Promise<Answer['json']>;
  join(session: { pty_ws_url: string }, role?: string): Promise<Client>;
  audit(): Array<Record<string, unknown>>;
  /** All that it has logged; nothing unless LOG_LEVEL says so. */
  logged(): string;
  close(): Promise<void>;
}

export async function startGateway(env: NodeJS.ProcessEnv = {}): Promise<Gateway> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'gateway-'));
  const agentsFile = path.join(dataDir, 'agents.json');
  writeFileSync(
    agentsFile,
    JSON.stringify({ agents: { free: { ...shell, allow_command_override: true }, fixed: { ...shell, cwd: dataDir } } }),
  );
  const config = readConfig({
    PORT: '0',
    LOG_LEVEL: 'silent',
    DATA_DIR: dataDir,
    AGENTS_FILE: agentsFile,
    AUTH_JWT_SECRET: SECRET,
    REPLICA_ID: 'r1',
    ...env,
  });
  const logged: string[] = [];
  const logger = pino(loggerOptions(config), { write: (line) => void logged.push(line) }) as FastifyBaseLogger;
  const app = await buildApp(config, { logger });
  await listen(app);
  const base = app.publicUrl().http;
  const token: Gateway['token'] = (scope = 'pty:control', more = {}) => mintToken(SECRET, { sub: 'alice', ttlSeconds: 60, scope, ...more });

  const call: Gateway['call'] = async (method, at, { token: given = token('pty:admin'), body, headers } = {}) => {
    const response = await fetch(base + at, {
      method,
      headers: {
        ...(given && { authorization: `Bearer ${given}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== '';
    return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
  };
  return {
    app,
    base,
    dataDir,
    token,
    call,
    session: async (body = {}) => {
      const { status, json, text } = await call('POST', '/agents/free/sessions', { token: token(), body });
      if (status !== 201) throw new Error(`no session: ${status} ${text}`);
      return json;
    },
    join: (session, role = 'controller') => join(session.pty_ws_url, token(), role),
    audit: () =>
      readFileSync(path.join(dataDir, 'audit.jsonl'), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    logged: () => logged.join(''),
    close: async () => {
      // A client may hold a connection on which it has asked for nothing yet.
      setTimeout(() => app.server.closeAllConnections(), UNUSED_CONNECTIONS_MS).unref();
      await app.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Attaches as a plain client and waits for its role. */
async function join(url: string, token: string, role: string): Promise<Client> {
  const ws = new WebSocket(url, ['pty-ws.v1'], { headers: { authorization: `Bearer ${token}` } });
  const frames: Seen[] = [];
  let wake = () => {};
  ws.on('message', (data) => {
    frames.push(JSON.parse(String(data)));
    wake();
  });
  const closed = new Promise<number>((resolve) => ws.on('close', resolve));
  const until = async (wanted: (frame: Seen) => boolean): Promise<Seen> => {
    for (;;) {
      while (frames.length > 0) {
        const frame = frames.shift() as Seen;
        if (wanted(frame)) return frame;
      }
      if (ws.readyState >= WebSocket.CLOSING) throw new Error('the connection was closed before the frame came');
      await new Promise<void>((resolve) => {
        wake = resolve;
        ws.once('close', () => resolve());
      });
    }
  };
  await until(({ op }) => op === 'binding_hello');
  ws.send(JSON.stringify({ op: 'pty.join_session', id: '1', payload: { role }, extensions: [EXTENSION_URI] }));
  const { payload } = await until((frame) => frame.payload.kind === 'RoleAssigned');
  return { clientId: payload.client_id, until, closed };
}
