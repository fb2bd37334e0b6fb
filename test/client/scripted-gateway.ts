// A gateway that plays one part of a conversation, over real sockets: each connection gets a Peer with which a test says its lines.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { encodeOutput } from '../../src/protocol/binary-codec.js';
import { BINARY_SUBPROTOCOL, JSON_SUBPROTOCOL } from '../../src/protocol/names.js';

export interface Heard {
  op: string;
  id: string;
  payload: Record<string, unknown>;
  replay_from?: number;
  extensions?: string[];
  service_parameters?: Record<string, unknown>;
}

/** The gateway's side of one connection. */
export class Peer {
  readonly request: IncomingMessage;
  readonly #socket: WebSocket;
  readonly #heard: Array<Heard | Uint8Array> = [];
  #wake: () => void = () => {};
  readonly closed: Promise<number>;

  constructor(socket: WebSocket, request: IncomingMessage) {
    this.#socket = socket;
    this.request = request;
    this.closed = new Promise((resolve) => socket.on('close', resolve));
    socket.on('message', (data: RawData, isBinary) => {
      this.#heard.push(isBinary ? new Uint8Array(data as Buffer) : JSON.parse(String(data)));
      this.#wake();
    });
  }

  get subprotocol(): string {
    return this.#socket.protocol;
  }

  /** What the client says next. */
  async hear(): Promise<Heard> {
    while (this.#heard.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#heard.shift() as Heard;
  }

  /** The same, where bytes are expected. */
  async hearBytes(): Promise<Uint8Array> {
    return (await this.hear()) as unknown as Uint8Array;
  }

  say(op: string, payload: object, extra: object = {}): void {
    this.#socket.send(JSON.stringify({ op, id: `s-${Math.random()}`, ts: new Date().toISOString(), payload, ...extra }));
  }

  raw(data: string): void {
    this.#socket.send(data);
  }

  frame(sequence: number, payload: object): void {
    this.say('pty.session_frame', payload, { sequence });
  }

  output(sequence: number, text: string): void {
    if (this.subprotocol === BINARY_SUBPROTOCOL) this.#socket.send(encodeOutput({ sequence, body: new TextEncoder().encode(text) }));
    else this.replayed(sequence, text);
  }

  /** The past is told in JSON on both subprotocols. */
  replayed(sequence: number, text: string): void {
    this.frame(sequence, { kind: 'Output', stream: 'stdout', data: Buffer.from(text).toString('base64') });
  }

  keyframe(sequence: number, screen: string, size = { cols: 80, rows: 24 }, anchor = sequence - 1): void {
    const snapshot = Buffer.from(screen).toString('base64');
    const geometry = { snapshot_cols: size.cols, snapshot_rows: size.rows };
    this.frame(sequence, { kind: 'Keyframe', snapshot, snapshot_format: 'vt100-screen-state-v1', ...geometry, anchor_sequence: anchor });
  }

  hello(current = 0): void {
    this.say('binding_hello', { session: { session_id: 'the-session', current_sequence: current } }, { sequence: 0 });
  }

  /** Says hello and hears the join; answers with RoleAssigned at `sequence` and MembershipChanged after it. */
  async welcome(
    sequence: number,
    options: { role?: string; clientId?: string; controllers?: string[]; downgraded?: true } = {},
  ): Promise<Heard> {
    const { role = 'controller', clientId = `c-${sequence}`, controllers = [clientId], downgraded } = options;
    this.hello(sequence - 1);
    const join = await this.hear();
    this.frame(sequence, {
      kind: 'RoleAssigned',
      role,
      client_id: clientId,
      ...(downgraded && { downgraded, reason: 'another has control' }),
    });
    this.members(sequence + 1, controllers);
    return join;
  }

  members(sequence: number, controllers: string[]): void {
    this.frame(sequence, { kind: 'MembershipChanged', controllers: controllers.map((client_id) => ({ client_id })), observers: [] });
  }

  answer(to: Heard, op: string, payload: object): void {
    this.say(op, payload, { id: to.id });
  }

  refuse(to: Heard, code: string, message: string, retryable = false): void {
    this.answer(to, 'Error', { code, message, a2a_error: { type: code }, retryable });
  }

  goodbye(reason: string, code = 1000, detail?: string): void {
    this.say('binding_goodbye', { reason, ...(detail && { detail }) });
    this.#socket.close(code);
  }

  close(code: number): void {
    this.#socket.close(code);
  }

  /** The network fails. */
  cut(): void {
    this.#socket.terminate();
  }
}

export interface Refusal {
  status: number;
  body?: object;
  headers?: Record<string, string>;
}

export interface ScriptedGateway {
  readonly url: string;
  /** The next connection. */
  connection(): Promise<Peer>;
  /** How many there have been. */
  readonly count: number;
  close(): Promise<void>;
}

/** `refuse` may turn an upgrade, or the HTTP request for the session, away. */
export async function scriptedGateway(refuse: (nth: number) => Refusal | undefined = () => undefined): Promise<ScriptedGateway> {
  const waiting: Array<(peer: Peer) => void> = [];
  const peers: Peer[] = [];
  let count = 0;
  const server = createServer((_request, response) => {
    const { status = 200, body, headers } = refuse(count) ?? {};
    response.writeHead(status, headers).end(JSON.stringify(body ?? {}));
  });
  const handleProtocols = (offered: Set<string>) => [BINARY_SUBPROTOCOL, JSON_SUBPROTOCOL].find((name) => offered.has(name)) ?? false;
  const sockets = new WebSocketServer({ noServer: true, handleProtocols });
  server.on('upgrade', (request, socket, head) => {
    count += 1;
    const refusal = refuse(count);
    if (refusal) {
      const headers = Object.entries(refusal.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.end(`HTTP/1.1 ${refusal.status} No\r\nConnection: close\r\n${headers.join('')}\r\n${JSON.stringify(refusal.body ?? {})}`);
      return;
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const peer = new Peer(webSocket, request);
      const taker = waiting.shift();
      if (taker) taker(peer);
      else peers.push(peer);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/agents/inst-a/sessions/the-session/attach`,
    connection: async () => peers.shift() ?? new Promise((resolve) => waiting.push(resolve)),
    get count() {
      return count;
    },
    close: () => {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
