// What a push config may be.
import { describe, expect, it } from 'vitest';
import { readPushConfig, withoutCredentials } from '../../src/a2a/push.js';

const whole = {
  id: 'a',
  taskId: 't',
  url: 'https://receiver.example/hook',
  token: 'tk',
  authentication: { scheme: 'Bearer', credentials: 'c' },
};

describe('A push config', () => {
  it('is kept as it was given, without what it has too much', () => {
    expect(readPushConfig({ ...whole, tenant: 'x', more: 1 })).toEqual(whole);
  });

  it('counts null and empty members as absent', () => {
    const empty = { id: '', taskId: null, token: '', authentication: null };
    expect(readPushConfig({ ...empty, url: whole.url })).toEqual({ url: whole.url });
    expect(readPushConfig({ ...whole, authentication: { scheme: 'Bearer', credentials: '' } }).authentication).toEqual({
      scheme: 'Bearer',
    });
  });

  it('is shown without its credentials', () => {
    expect(withoutCredentials(readPushConfig(whole)).authentication).toEqual({ scheme: 'Bearer' });
  });

  it.each([
    ['no object', 7, 'pushNotificationConfig: expected an object, got 7'],
    ['no url', {}, 'pushNotificationConfig.url: expected a string of 1 to 2048 characters, got nothing'],
    [
      'a token with a line break',
      { url: 'x', token: 'a\r\nX-Evil: 1' },
      'pushNotificationConfig.token: expected a token of printable ASCII',
    ],
    ['no scheme', { url: 'x', authentication: {} }, 'pushNotificationConfig.authentication.scheme: expected the name of an HTTP'],
    ['a scheme of two words', { url: 'x', authentication: { scheme: 'Bearer x' } }, 'authentication.scheme: expected the name of an HTTP'],
    [
      'credentials with a line break',
      { url: 'x', authentication: { scheme: 'Bearer', credentials: 'a\nb' } },
      'credentials of printable ASCII',
    ],
    ['a long id', { url: 'x', id: 'i'.repeat(129) }, 'pushNotificationConfig.id: expected a string of 1 to 128 characters'],
  ])('is refused with %s, in words that say what is wrong and where', (_, value, words) => {
    expect(() => readPushConfig(value)).toThrow(words);
  });
});
