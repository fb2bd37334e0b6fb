// The checksum of records: the same from zlib and from our own table, so that a folder can move between versions of Node.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { crc32, tableCrc32 } from '../../src/log/embedded/crc32.js';

it('is the CRC-32 that everybody knows', () => {
  expect(tableCrc32(Buffer.from('123456789'))).toBe(0xcbf43926);
});

it('is the same from both, at once or in two parts', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 300 }), (one, other) => {
      const whole = crc32(Buffer.concat([one, other]));
      expect(tableCrc32(other, tableCrc32(one))).toBe(whole);
      expect(crc32(other, crc32(one))).toBe(whole);
    }),
  );
});
