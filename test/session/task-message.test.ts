// What is typed for a message.
import { describe, expect, it } from 'vitest';
import { adapterOf } from '../../src/agents/adapter.js';
import { keystrokes, MAX_TYPED, textOf } from '../../src/session/task/message.js';

const message = (...parts: Array<Record<string, unknown>>) => ({ messageId: 'm', role: 'ROLE_USER', parts });
const base64 = (text: string) => Buffer.from(text).toString('base64');
const typed = (text: string, takesPastes = false, adapter = adapterOf()) => {
  const keys = keystrokes(text, adapter, takesPastes);
  return Buffer.concat([keys.text, keys.submit]).toString();
};

describe('A message', () => {
  it('is its parts, a line each: text, data as JSON, and files that hold text', () => {
    const parts = [{ text: 'one' }, { data: { a: [1] } }, { raw: base64('é'), mediaType: 'text/plain; charset=utf-8' }];
    expect(textOf(message(...parts))).toBe('one\n{"a":[1]}\né');
  });

  it.each([
    ['a picture', { raw: 'AAAA', mediaType: 'image/png' }, /^ContentTypeNotSupported: message\.parts\.1: .* "image\/png"$/],
    ['a file without a type', { raw: 'AAAA' }, /^ContentTypeNotSupported: message\.parts\.1/],
    ['an address', { url: 'https://example.com/a.txt', mediaType: 'text/plain' }, /^ContentTypeNotSupported: message\.parts\.1: .* url$/],
    ['text that is none', { raw: '/w==', mediaType: 'text/plain' }, /^message\.parts\.1\.raw: expected UTF-8/],
    ['nothing', { filename: 'x' }, /^message\.parts\.1: expected text, data or raw$/],
    ['too much', { text: 'x'.repeat(MAX_TYPED) }, /^message\.parts: at most 262144 characters/],
  ])('with %s is refused, and the part is named', (_, part, reason) => {
    expect(() => textOf(message({ text: 'fine' }, part))).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST', message: expect.stringMatching(reason) }),
    );
  });

  it('is typed line by line, or as one paste where the program takes such', () => {
    expect(typed('a\nb\r\nc')).toBe('a\rb\rc\r');
    expect(typed('a\nb', true)).toBe('\x1b[200~a\rb\x1b[201~\r');
    expect(typed('a', true, adapterOf({ paste: 'plain' }))).toBe('a\r');
    expect(typed('a', false, adapterOf({ paste: 'bracketed', submit: 'ctrl-enter' }))).toBe('\x1b[200~a\x1b[201~\x1b[13;5u');
  });

  it('cannot end its own paste', () => {
    expect(typed('a\x1b[201~\x03rm\tx\u009b201~', true)).toBe('\x1b[200~a[201~rm\tx201~\x1b[201~\r');
  });
});
