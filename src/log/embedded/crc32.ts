// CRC-32 as in zlib, of bytes and of what follows them. Knows nothing else.
import * as zlib from 'node:zlib';

type Crc32 = (bytes: Uint8Array, before?: number) => number;

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** For a Node whose zlib has no `crc32` (before 20.15). */
export const tableCrc32: Crc32 = (bytes, before = 0) => {
  let value = ~before;
  for (const byte of bytes) value = (value >>> 8) ^ (table[(value ^ byte) & 0xff] as number);
  return ~value >>> 0;
};

/** The checksum of `bytes`, going on from the checksum `before` of the bytes before them. */
export const crc32: Crc32 = (zlib as { crc32?: Crc32 }).crc32 ?? tableCrc32;
