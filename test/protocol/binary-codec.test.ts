// The hot path of the binary subprotocol, byte by byte.
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { decodeInput, decodeOutput, encodeInput, encodeOutput } from '../../src/protocol/binary-codec.js';

afterEach(() => vi.unstubAllGlobals());

const ascii = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0));
const bytes = fc.uint8Array({ maxLength: 300 });

describe('output', () => {
  it('is a magic, a big-endian number, a stream and the bytes', () => {
    const message = encodeOutput({ sequence: 0x01_0203_0405, body: ascii('hi') });
    expect([...message]).toEqual([...ascii('PW1O'), 0, 0, 0, 1, 2, 3, 4, 5, 1, ...ascii('hi')]);
  });

  it('comes back as it was, with any number and any bytes', () => {
    fc.assert(
      fc.property(fc.oneof(fc.maxSafeNat(), fc.constant(Number.MAX_SAFE_INTEGER)), bytes, (sequence, body) => {
        expect(decodeOutput(encodeOutput({ sequence, body }))).toEqual({ sequence, stream: 1, bytes: body });
      }),
    );
  });

  it('with a number that JavaScript cannot hold is refused', () => {
    const message = encodeOutput({ sequence: 1, body: ascii('') }).fill(0xff, 4, 12);
    expect(() => decodeOutput(message)).toThrow('binary frame: the sequence is above 2^53-1');
  });
});

describe('input', () => {
  it('is a magic and the bytes, and comes back as it was', () => {
    fc.assert(
      fc.property(bytes, (typed) => {
        const message = encodeInput(typed);
        expect([...message]).toEqual([...ascii('PW1I'), ...typed]);
        expect(decodeInput(message)).toEqual(typed);
      }),
    );
  });

  it('is read from the middle of a larger buffer, too', () => {
    const pool = Uint8Array.from([...ascii('junk'), ...encodeInput(ascii('ls')), ...ascii('junk')]);
    expect(decodeInput(pool.subarray(4, 10))).toEqual(ascii('ls'));
  });
});

describe('anything else', () => {
  it.each([
    ['', 'binary frame: expected at least 4 bytes, got 0'],
    ['PW', 'binary frame: expected at least 4 bytes, got 2'],
    ['XXXXjunk', 'binary frame: expected it to begin with PW1I'],
    ['PW1Ojunk', 'binary frame: expected it to begin with PW1I'],
  ])('%j is refused as input, in words', (text, message) => {
    expect(() => decodeInput(ascii(text))).toThrow(expect.objectContaining({ name: 'Fault', code: 'INVALID_REQUEST', message }));
  });

  it('is refused with a Fault or read, and never more than that', () => {
    fc.assert(
      fc.property(fc.oneof(bytes, bytes.map(encodeInput)), fc.constantFrom(decodeInput, decodeOutput), (message, decode) => {
        try {
          decode(message);
        } catch (error) {
          expect(error).toMatchObject({ name: 'Fault', code: 'INVALID_REQUEST' });
        }
      }),
    );
  });
});

it('needs nothing that a browser lacks', () => {
  vi.stubGlobal('Buffer', undefined);
  const output = decodeOutput(encodeOutput({ sequence: 7, body: decodeInput(encodeInput(ascii('x'))) }));
  vi.unstubAllGlobals();
  expect(output).toEqual({ sequence: 7, stream: 1, bytes: ascii('x') });
});
