// A message as it lies on the wire of a WebSocket (RFC 6455 §5.2), made once for all sockets that it is sent to. Knows no socket and no frame of a session.

const FIN = 0x80;
const [TEXT, BINARY] = [0x1, 0x2];
/** Bytes of a body up to which it is copied: one piece costs a socket less than two. */
const COPIED_BYTES = 4096;
/** Lengths up to which one and three bytes are enough. */
const [SHORT, MIDDLE] = [125, 65_535];

/** Pieces that follow each other on the wire. A server masks nothing, so they are the same for everyone. */
export type WireMessage = readonly Uint8Array[];

/** `text` is UTF-8. */
export const textMessage = (text: Uint8Array): WireMessage => joined(head(TEXT, text.length, NOTHING), text);

/** A large `body` is not copied. */
export const binaryMessage = (start: Uint8Array, body: Uint8Array): WireMessage =>
  joined(head(BINARY, start.length + body.length, start), body);

const joined = (head: Uint8Array, body: Uint8Array): WireMessage =>
  body.length <= COPIED_BYTES ? [Buffer.concat([head, body])] : [head, body];

/** What stands before a payload of so many bytes, and how the payload starts. */
function head(opcode: number, length: number, start: Uint8Array): Uint8Array {
  const extra = length <= SHORT ? 0 : length <= MIDDLE ? 2 : 8;
  const bytes = Buffer.allocUnsafe(2 + extra + start.length);
  bytes[0] = FIN | opcode;
  bytes[1] = extra === 0 ? length : extra === 2 ? 126 : 127;
  if (extra === 2) bytes.writeUInt16BE(length, 2);
  else if (extra === 8) bytes.writeBigUInt64BE(BigInt(length), 2);
  bytes.set(start, 2 + extra);
  return bytes;
}

const NOTHING = new Uint8Array(0);
