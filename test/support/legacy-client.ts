// A client of the reference implementation's dialect, by hand on a TCP socket: it knows `{op, seq, ts, payload}` and RFC 6455, and none of our code.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const PATIENCE_MS = 5_000;
const [TEXT, BINARY, CLOSE] = [0x1, 0x2, 0x8];

export interface LegacyFrame {
  readonly op: string;
  readonly seq?: number;
  readonly ts: string;
  // biome-ignore lint/suspicious/noExplicitAny: a frame may carry anything; the test says what it expects.
  readonly payload: any;
  readonly [key: string]: unknown;
}

export interface LegacyOptions {
  readonly token: string;
  /** As `?replay_from=`. */
  readonly replayFrom?: number | string;
  readonly protocols?: readonly string[];
}

export class LegacyClient {
  /** All that it was sent as text, in order. */
  readonly frames: LegacyFrame[] = [];
  readonly binaries: Buffer[] = [];
  /** The head of the answer to its upgrade request. */
  head = '';
  closeCode: number | undefined;
  readonly #socket: Socket;
  #unread = Buffer.alloc(0);
  #next = 0;
  #news: Array<() => void> = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (data) => this.#take(data));
    socket.on('close', () => this.#tell());
    socket.on('error', () => {});
  }

  /** Resolves with the answer to the upgrade, whatever it is. */
  static async attach(url: string, { token, replayFrom, protocols = ['pty-ws.v1'] }: LegacyOptions): Promise<LegacyClient> {
    const { hostname, port, pathname } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    const client = new LegacyClient(socket);
    const query = replayFrom === undefined ? '' : `?replay_from=${replayFrom}`;
    const lines = [
      `GET ${pathname}${query} HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
      ...(protocols.length > 0 ? [`Sec-WebSocket-Protocol: ${protocols.join(', ')}`] : []),
      ...(token === '' ? [] : [`Authorization: Bearer ${token}`]),
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    await client.#wait(() => client.head !== '');
    return client;
  }

  /** Attaches, waits for the hello, and joins, as the command line and the dashboard do. */
  static async join(url: string, options: LegacyOptions, payload: object = { role: 'controller' }): Promise<LegacyClient> {
    const client = await LegacyClient.attach(url, options);
    await client.until('binding_hello');
    client.say('pty.join_session', payload);
    await client.until('role_assigned');
    return client;
  }

  /** Of the answer to the upgrade. */
  get status(): number {
    return Number(this.head.split(' ')[1]);
  }

  /** The last number that it was given. */
  get lastSeq(): number {
    return this.frames.reduce((last, { seq }) => seq ?? last, 0);
  }

  say(op: string, payload: object = {}): void {
    this.raw(JSON.stringify({ op, ts: new Date().toISOString(), payload }));
  }

  type(text: string): void {
    this.say('pty.session_input', { data: Buffer.from(text).toString('base64') });
  }

  raw(text: string): void {
    this.#send(TEXT, Buffer.from(text));
  }

  /** The next frame that was not read. */
  async read(): Promise<LegacyFrame> {
    await this.#wait(() => this.frames.length > this.#next);
    this.#next += 1;
    return this.frames[this.#next - 1] as LegacyFrame;
  }

  /** The next frame of that op; those before it are passed over. */
  async until(op: string): Promise<LegacyFrame> {
    for (;;) {
      const frame = await this.read();
      if (frame.op === op) return frame;
    }
  }

  /** Waits until the output that it was sent, all in all, contains a text. */
  async shown(text: string): Promise<void> {
    await this.#wait(() => this.output.includes(text));
  }

  /** What `output` frames brought, those in keyframes not counted. */
  get output(): string {
    return outputOf(this.frames);
  }

  async closed(): Promise<number | undefined> {
    await this.#wait(() => this.closeCode !== undefined || this.#socket.destroyed);
    return this.closeCode;
  }

  /** The connection is lost, without a word. */
  cut(): void {
    this.#socket.destroy();
  }

  #send(opcode: number, body: Buffer): void {
    const mask = randomBytes(4);
    const length = Buffer.alloc(body.length < 126 ? 1 : 3);
    length[0] = 0x80 | Math.min(body.length, 126);
    if (body.length >= 126) length.writeUInt16BE(body.length, 1);
    this.#socket.write(Buffer.concat([Buffer.from([0x80 | opcode]), length, mask, body.map((byte, i) => byte ^ (mask[i % 4] ?? 0))]));
  }

  #take(data: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, data]);
    if (this.head === '') this.#takeHead();
    if (this.head !== '') while (this.#takeFrame());
    this.#tell();
  }

  #takeHead(): void {
    const end = this.#unread.indexOf('\r\n\r\n');
    if (end < 0) return;
    this.head = this.#unread.subarray(0, end).toString();
    this.#unread = this.#unread.subarray(end + 4);
  }

  /** False when there is no whole frame. */
  #takeFrame(): boolean {
    const short = (this.#unread[1] ?? 0) & 0x7f;
    const start = short === 127 ? 10 : short === 126 ? 4 : 2;
    if (this.status !== 101 || this.#unread.length < start) return false;
    const length = short === 127 ? Number(this.#unread.readBigUInt64BE(2)) : short === 126 ? this.#unread.readUInt16BE(2) : short;
    if (this.#unread.length < start + length) return false;
    this.#hear((this.#unread[0] ?? 0) & 0xf, this.#unread.subarray(start, start + length));
    this.#unread = this.#unread.subarray(start + length);
    return true;
  }

  #hear(opcode: number, body: Buffer): void {
    if (opcode === TEXT) this.frames.push(JSON.parse(body.toString()));
    if (opcode === BINARY) this.binaries.push(Buffer.from(body));
    if (opcode !== CLOSE) return;
    this.closeCode = body.readUInt16BE(0);
    this.#send(CLOSE, body.subarray(0, 2));
  }

  #tell(): void {
    for (const wake of this.#news.splice(0)) wake();
  }

  async #wait(isThere: () => boolean): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (!isThere()) {
      const left = deadline - Date.now();
      const last = () => JSON.stringify(this.frames.slice(-6).map(({ op, seq }) => [op, seq]));
      if (left <= 0) throw new Error(`nothing came for ${PATIENCE_MS} ms after ${last()}`);
      if (this.#socket.destroyed) throw new Error(`the connection ended (${this.closeCode}) after ${last()}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#news.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }
}

/** What the `output` among these says. */
export function outputOf(frames: ReadonlyArray<Pick<LegacyFrame, 'op' | 'payload'>>): string {
  const outputs = frames.filter(({ op }) => op === 'output');
  return Buffer.concat(outputs.map(({ payload }) => Buffer.from(payload.data, 'base64'))).toString();
}
