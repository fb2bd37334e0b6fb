// The hot path of `pty-ws.v1.binary`: bytes with a small head (pty-ws §3.1). Runs in browsers too; knows no Buffer and no JSON.
//
//   output  "PW1O"  sequence u64 BE  stream u8 (1 stdout)  bytes…
//   input   "PW1I"  bytes…
import { Fault } from '../errors.js';

const OUTPUT_MAGIC = 0x5057314f; // "PW1O"
const INPUT_MAGIC = 0x50573149; // "PW1I"
const MAGIC_BYTES = 4;
const OUTPUT_HEAD_BYTES = 13;
const STDOUT = 1;

export interface BinaryOutput {
  /** 1…2^53−1. */
  readonly sequence: number;
  /** 1 is stdout, the only one that a terminal has. */
  readonly stream: number;
  /** A view of the frame that was decoded, not a copy. */
  readonly bytes: Uint8Array;
}

/** What stands before the bytes that a program printed. */
export function outputHead(sequence: number): Uint8Array {
  const bytes = new Uint8Array(OUTPUT_HEAD_BYTES);
  const head = view(bytes);
  head.setUint32(0, OUTPUT_MAGIC);
  head.setBigUint64(4, BigInt(sequence));
  head.setUint8(12, STDOUT);
  return bytes;
}

/** A BINARY frame with what a program printed. */
export function encodeOutput(frame: { readonly sequence: number; readonly body: Uint8Array }): Uint8Array {
  const message = new Uint8Array(OUTPUT_HEAD_BYTES + frame.body.length);
  message.set(outputHead(frame.sequence));
  message.set(frame.body, OUTPUT_HEAD_BYTES);
  return message;
}

/** Fault INVALID_REQUEST for another magic, a short frame, or a sequence above 2^53−1. */
export function decodeOutput(message: Uint8Array): BinaryOutput {
  const head = open(message, OUTPUT_MAGIC, 'PW1O', OUTPUT_HEAD_BYTES);
  const sequence = Number(head.getBigUint64(4));
  if (!Number.isSafeInteger(sequence)) throw new Fault('INVALID_REQUEST', 'binary frame: the sequence is above 2^53-1');
  return { sequence, stream: head.getUint8(12), bytes: message.subarray(OUTPUT_HEAD_BYTES) };
}

/** A BINARY frame with what is to be typed. */
export function encodeInput(bytes: Uint8Array): Uint8Array {
  const message = new Uint8Array(MAGIC_BYTES + bytes.length);
  view(message).setUint32(0, INPUT_MAGIC);
  message.set(bytes, MAGIC_BYTES);
  return message;
}

/** A view of the bytes to type. Fault INVALID_REQUEST for another magic or a short frame. */
export function decodeInput(message: Uint8Array): Uint8Array {
  open(message, INPUT_MAGIC, 'PW1I', MAGIC_BYTES);
  return message.subarray(MAGIC_BYTES);
}

function open(message: Uint8Array, magic: number, name: string, headBytes: number): DataView {
  const head = view(message);
  if (message.length < headBytes) {
    throw new Fault('INVALID_REQUEST', `binary frame: expected at least ${headBytes} bytes, got ${message.length}`);
  }
  if (head.getUint32(0) !== magic) throw new Fault('INVALID_REQUEST', `binary frame: expected it to begin with ${name}`);
  return head;
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
