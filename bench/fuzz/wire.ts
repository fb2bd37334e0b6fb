// A TCP connection on which anything can be said, and RFC 6455 as far as an attacker needs it: by hand, and knowing none of the product's code.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Milliseconds that an answer may take; a machine with much to do is slow. */
const PATIENCE_MS = 30_000;

export class Wire {
  readonly #socket: Socket;
  #heard = Buffer.alloc(0);
  isClosed = false;
  #wake = () => {};

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (data) => {
      this.#heard = Buffer.concat([this.#heard, data]);
      this.#wake();
    });
    socket.on('error', () => {});
    socket.once('close', () => {
      this.isClosed = true;
      this.#wake();
    });
  }

  static async open(port: number): Promise<Wire> {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    return new Wire(socket);
  }

  /** What was heard and not yet taken. */
  get heard(): Buffer {
    return this.#heard;
  }

  say(bytes: Uint8Array | string): void {
    if (!this.isClosed) this.#socket.write(bytes);
  }

  take(count: number): Buffer {
    const taken = this.#heard.subarray(0, count);
    this.#heard = this.#heard.subarray(count);
    return taken;
  }

  /** True once it is so; false if the connection is closed before, or nothing comes of it in time. */
  async until(isSo: () => boolean): Promise<boolean> {
    const deadline = performance.now() + PATIENCE_MS;
    while (!isSo()) {
      const left = deadline - performance.now();
      if (this.isClosed || left <= 0) return false;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return true;
  }

  close(): void {
    this.#socket.destroy();
  }
}

export interface Shape {
  readonly fin?: boolean;
  readonly rsv?: number;
  readonly opcode: number;
  readonly masked?: boolean;
  /** In the header, instead of the true length. */
  readonly length?: bigint;
}

/** A frame as RFC 6455 §5.2 has it, or as it must not be. */
export function frame(body: Uint8Array, { fin = true, rsv = 0, opcode, masked = true, length }: Shape): Buffer {
  const told = length ?? BigInt(body.length);
  const first = (fin ? 0x80 : 0) | (rsv << 4) | opcode;
  const bit = masked ? 0x80 : 0;
  const head = told < 126n ? Buffer.from([first, bit | Number(told)]) : told < 65_536n ? Buffer.alloc(4) : Buffer.alloc(10);
  if (head.length > 2) head.set([first, bit | (head.length === 4 ? 126 : 127)]);
  if (head.length === 4) head.writeUInt16BE(Number(told), 2);
  if (head.length === 10) head.writeBigUInt64BE(told, 2);
  if (!masked) return Buffer.concat([head, body]);
  const mask = randomBytes(4);
  return Buffer.concat([head, mask, body.map((byte, i) => byte ^ (mask[i % 4] as number))]);
}

export const text = (value: string): Buffer => frame(Buffer.from(value), { opcode: 1 });

interface Heard {
  readonly opcode: number;
  readonly body: Buffer;
}

type Told = (message: { readonly op: string; readonly id?: string; readonly payload: Record<string, unknown> }) => void;

/** A WebSocket on which anything can be said. */
export class RawSocket {
  readonly wire: Wire;
  /** The code that the gateway closed with; undefined while it is open, 1006 if it was cut. */
  code: number | undefined;
  readonly #told: Told;

  private constructor(wire: Wire, told: Told) {
    this.wire = wire;
    this.#told = told;
  }

  /** Upgrades; `told` hears each TEXT frame. Undefined if it was refused. */
  static async open(port: number, path: string, headers: readonly string[], told: Told = () => {}): Promise<RawSocket | undefined> {
    const wire = await Wire.open(port);
    const key = `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`;
    const lines = [`GET ${path} HTTP/1.1`, 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', key];
    wire.say(`${[...lines, ...headers].join('\r\n')}\r\n\r\n`);
    await wire.until(() => wire.heard.includes('\r\n\r\n'));
    const head = wire.take(wire.heard.indexOf('\r\n\r\n') + 4).toString();
    if (head.startsWith('HTTP/1.1 101')) return new RawSocket(wire, told);
    wire.close();
    return undefined;
  }

  /** True once it is so; false if the gateway closes before. */
  async until(isSo: () => boolean): Promise<boolean> {
    const was = await this.wire.until(() => {
      this.#read();
      return isSo() || this.code !== undefined;
    });
    if (!was && this.wire.isClosed) this.code ??= 1006;
    return isSo();
  }

  #read(): void {
    for (let next = this.#next(); next; next = this.#next()) {
      if (next.opcode === 8) this.code ??= next.body.length >= 2 ? next.body.readUInt16BE(0) : 1005;
      else if (next.opcode === 1) this.#told(JSON.parse(next.body.toString()));
    }
  }

  /** A gateway sends no fragments. */
  #next(): Heard | undefined {
    const { heard } = this.wire;
    const short = (heard[1] ?? 0) & 0x7f;
    const start = short < 126 ? 2 : short === 126 ? 4 : 10;
    if (heard.length < start) return undefined;
    const length = short < 126 ? short : short === 126 ? heard.readUInt16BE(2) : Number(heard.readBigUInt64BE(2));
    if (heard.length < start + length) return undefined;
    const bytes = this.wire.take(start + length);
    return { opcode: (bytes[0] as number) & 0x0f, body: bytes.subarray(start) };
  }
}
