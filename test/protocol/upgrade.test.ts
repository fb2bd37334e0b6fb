// What the headers of an upgrade ask for, and the hello that answers them.
import { Value } from '@sinclair/typebox/value';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { serverEnvelopes } from '../../src/protocol/envelope.js';
import { hello } from '../../src/protocol/hello.js';
import { encodeMessage } from '../../src/protocol/json-codec.js';
import { EXTENSION_URI, type Subprotocol } from '../../src/protocol/names.js';
import { bearerFromSubprotocols, chooseSubprotocol, parseExtensions } from '../../src/protocol/negotiate.js';

describe('the subprotocol', () => {
  it.each([
    ['pty-ws.v1', 'pty-ws.v1'],
    ['pty-ws.v1.binary', 'pty-ws.v1.binary'],
    ['other, pty-ws.v1.binary, pty-ws.v1', 'pty-ws.v1.binary'],
    ['bearer.YQ,pty-ws.v1', 'pty-ws.v1'],
    [['other', 'pty-ws.v1'], 'pty-ws.v1'],
    ['PTY-WS.V1', undefined],
    ['pty-ws.v2, bearer.pty-ws.v1', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('of %j is %s', (header, chosen) => {
    expect(chooseSubprotocol(header)).toBe(chosen);
  });
});

describe('the token of a browser', () => {
  it('is found wherever it stands among the subprotocols', () => {
    const token = fc.string({ unit: fc.constantFrom(...'abcXYZ019._-~+/='), minLength: 1 });
    fc.assert(
      fc.property(token, fc.boolean(), (text, first) => {
        const offer = `bearer.${Buffer.from(text).toString('base64url')}`;
        expect(bearerFromSubprotocols(first ? `${offer}, pty-ws.v1` : `pty-ws.v1, ${offer}`)).toBe(text);
      }),
    );
  });

  it.each([
    undefined,
    '',
    'pty-ws.v1',
    'bearer.',
    'bearer.a b',
    'bearer.***',
    `bearer.${Buffer.from('a\nb').toString('base64url')}`,
    'bearer.aGk=',
  ])('is not in %j', (header) => {
    expect(bearerFromSubprotocols(header)).toBeUndefined();
  });
});

describe('an A2A-Extensions header', () => {
  it('is a list of URIs, each told once', () => {
    expect(parseExtensions(` ${EXTENSION_URI} ,, https://other.example/x,${EXTENSION_URI}`)).toEqual([
      EXTENSION_URI,
      'https://other.example/x',
    ]);
    expect(parseExtensions(['a', 'b, c'])).toEqual(['a', 'b', 'c']);
    expect(parseExtensions(undefined)).toEqual([]);
  });

  it('is read up to a bound', () => {
    const many = Array.from({ length: 100 }, (_, i) => `urn:${i}`);
    expect(parseExtensions(['x'.repeat(257), ...many].join(', '))).toEqual(many.slice(0, 16));
  });
});

describe('the hello', () => {
  const greet = (subprotocol: Subprotocol) =>
    hello({ sessionId: 's', currentSequence: 248, activatedExtensions: [EXTENSION_URI], subprotocol });

  it('says what this binding is, and where the session is', () => {
    const payload = greet('pty-ws.v1');
    expect(payload.supported_operations).toEqual([
      ...['SendMessage', 'SendStreamingMessage', 'GetTask', 'ListTasks', 'CancelTask', 'SubscribeToTask'],
      ...['pty.join_session', 'pty.leave_session', 'pty.session_input', 'pty.session_resize', 'pty.request_role', 'pty.request_keyframe'],
    ]);
    expect(payload).toMatchObject({
      binding_uri: 'https://agentic-sandbox.aiwg.io/bindings/pty-ws/v1',
      binding_version: '1.0.0',
      activated_extensions: [EXTENSION_URI],
      session: { session_id: 's', current_sequence: 248 },
      session_host: { supported_backends: ['native'], default_backend: 'native', supported_classes: ['direct'], default_class: 'direct' },
    });
    expect(payload).not.toHaveProperty('payload_mode');
  });

  it('says on a binary connection how to speak there', () => {
    const payload = greet('pty-ws.v1.binary');
    expect(payload.payload_mode).toEqual({ binary: true, binary_subprotocol: 'pty-ws.v1.binary', json_subprotocol: 'pty-ws.v1' });
    const message = JSON.parse(encodeMessage('binding_hello', payload, { sequence: 0 }));
    expect(Value.Check(serverEnvelopes.binding_hello, message)).toBe(true);
  });
});
