// One connection of a load client, in the words of whoever is measured: it counts output, and does not look at it. Knows no job.
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { EXTENSION_URI } from '../../src/protocol/names.js';
import type { Line } from './jobs.js';

const KEY = Buffer.from('PW1Ix');
/** Bytes of a BINARY frame before the output. */
const HEAD_BYTES = 13;
/** Bytes at the beginning of a TEXT frame in which its kind is named. */
const NAMED_WITHIN = 400;
const OUTPUT = Buffer.from('"kind":"Output"');
const KEYFRAME = Buffer.from('"kind":"Keyframe"');
const LAGGED = Buffer.from('PTY_OUTPUT_LAGGED');
const DATA = Buffer.from('"data":"');
/** Bytes of a TEXT Output behind its data. */
const TAIL_BYTES = 3;
/** Milliseconds until a connection must be there. */
const PATIENCE_MS = 20_000;

export class Connection {
  bytes = 0;
  messages = 0;
  lags = 0;
  /** Called for each message with output. */
  heard: () => void = () => {};
  /** Called for each Keyframe. */
  pictured: () => void = () => {};
  readonly ended: Promise<void>;
  readonly #ws: WebSocket;
  readonly #line: Line;

  private constructor(line: Line) {
    this.#line = line;
    this.#ws = open(line);
    this.ended = new Promise((resolve) => this.#ws.once('close', () => resolve()));
    this.#ws.on('error', () => {});
    this.#ws.on('message', line.dialect === 'ttyd' ? this.#ofTtyd : line.dialect === 'bare' ? this.#plain : this.#ofGateway);
  }

  static async open(line: Line): Promise<Connection> {
    const connection = new Connection(line);
    await once(connection.#ws, 'open', { signal: AbortSignal.timeout(PATIENCE_MS) });
    if (line.dialect === 'ttyd') connection.#ws.send('{"AuthToken":"","columns":120,"rows":30}');
    return connection;
  }

  /** Of a gateway: asks to be a member. */
  join(): void {
    const { role, replayFrom } = this.#line.join ?? { role: 'controller', replayFrom: 0 };
    const payload = { role, cols: 120, rows: 30 };
    const envelope = { op: 'pty.join_session', id: 'join', ts: new Date().toISOString(), payload, extensions: [EXTENSION_URI] };
    this.#ws.send(JSON.stringify({ ...envelope, ...(replayFrom !== null && { replay_from: replayFrom }) }));
  }

  /** Types one character. */
  key(): void {
    if (this.#line.dialect === 'ttyd') this.#ws.send('0x');
    else if (this.#line.dialect === 'pty-ws.v1.binary') this.#ws.send(KEY);
    else this.#ws.send(typed);
  }

  /** Reads nothing any more. */
  stop(): void {
    this.#ws.pause();
  }

  /** What was typed is taken first. */
  leave(): void {
    this.#ws.close();
  }

  close(): void {
    this.#ws.terminate();
  }

  readonly #ofTtyd = (data: Buffer): void => {
    if (data[0] === 0x30) this.#output(data.length - 1);
  };

  readonly #plain = (data: Buffer): void => this.#output(data.length);

  readonly #ofGateway = (data: Buffer, isBinary: boolean): void => {
    if (isBinary) {
      this.#output(data.length - HEAD_BYTES);
      return;
    }
    const head = data.subarray(0, NAMED_WITHIN);
    if (head.includes(OUTPUT)) this.#output(decodedLength(data));
    else if (head.includes(KEYFRAME)) this.pictured();
    else if (head.includes(LAGGED)) this.lags++;
  };

  #output(bytes: number): void {
    this.bytes += bytes;
    this.messages++;
    this.heard();
  }
}

const typed = JSON.stringify({
  op: 'pty.session_input',
  id: 'key',
  ts: new Date(0).toISOString(),
  payload: { data: Buffer.from('x').toString('base64') },
});

function open({ dialect, url, token }: Line): WebSocket {
  const options = {
    perMessageDeflate: false,
    maxPayload: 0,
    ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
  };
  if (dialect === 'bare') return new WebSocket(url, options);
  return new WebSocket(url, [dialect === 'ttyd' ? 'tty' : dialect], options);
}

/** Bytes that the base64 of a TEXT Output stands for. */
function decodedLength(data: Buffer): number {
  const from = data.indexOf(DATA) + DATA.length;
  const to = data.length - TAIL_BYTES;
  const padding = data[to - 1] !== 0x3d ? 0 : data[to - 2] === 0x3d ? 2 : 1;
  return ((to - from) / 4) * 3 - padding;
}
