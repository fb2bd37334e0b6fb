// Which session and which token are meant by an address.
import { expect, it } from 'vitest';
import { gatewayAddress, sessionAddress, tokenFrom } from '../../src/cli/address.js';

it.each([
  ['ws://h:1/agents/a/sessions/s/attach', 'ws://h:1/agents/a/sessions/s/attach'],
  ['wss://h/pre/fix/agents/a/sessions/s', 'wss://h/pre/fix/agents/a/sessions/s/attach'],
  ['https://h/agents/a%20b/sessions/s/?x=1', 'wss://h/agents/a%20b/sessions/s/attach'],
  ['http://h/pre/#session=a/s&role=observer', 'ws://h/pre/agents/a/sessions/s/attach'],
])('a session is found in %s', (address, attach) => {
  expect(sessionAddress(address).attach).toBe(attach);
});

it.each(['', 'h/agents/a/sessions/s', 'ftp://h/agents/a/sessions/s', 'http://h/agents/a', 'http://h/#session=a', 'http://h/x/sessions/s'])(
  'no session is found in %j, and no token is told of',
  (address) => {
    expect(() => sessionAddress(`${address}${address.includes('#') ? '&' : '#'}token=secret`)).toThrow(/address/);
    if (address.startsWith('http')) expect(() => sessionAddress(`${address}#token=secret`)).toThrow(/^(?!.*secret)/s);
  },
);

it('a token rides in the fragment, and one that is given counts more', () => {
  const address = gatewayAddress('http://h:8080/pre/#token=in-url');
  expect(address).toEqual({ base: 'http://h:8080/pre', token: 'in-url' });
  expect(tokenFrom(undefined, address)).toBe('in-url');
  expect(tokenFrom(' given\n', address)).toBe('given');
  expect(() => tokenFrom('', gatewayAddress('http://h'))).toThrow(/no token; .* makes one/);
});
