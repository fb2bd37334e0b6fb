// Extension negotiation (A2A 1.0 §4.6, pty-ext §3): what is activated, on which binding, and how the answer says so.
import { once } from 'node:events';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { activateOnHttp, activateOnWebSocket } from '../../src/a2a/extensions.js';
import { Fault } from '../../src/errors.js';
import { BINDING_URI, EXTENSION_URI } from '../../src/protocol/names.js';
import { type AttachServer, startAttachServer } from '../support/attach-server.js';

const refusal = {
  code: 'UNSUPPORTED_OPERATION',
  message: expect.stringMatching(/^UnsupportedExtension: /),
  details: { reason: 'UNSUPPORTED_EXTENSION', extension: EXTENSION_URI, requiredBinding: BINDING_URI },
};
const strangers = fc.array(fc.webUrl().filter((uri) => uri !== EXTENSION_URI));

describe('on HTTP', () => {
  it('extensions that nobody here knows are ignored', () => {
    fc.assert(
      fc.property(strangers, (names) => {
        expect(activateOnHttp(names)).toEqual([]);
      }),
    );
  });

  it('pty-extensions/v1 is refused wherever it stands among others, with the binding that it needs', () => {
    const among = fc.tuple(strangers, strangers).map(([before, after]) => [...before, EXTENSION_URI, ...after]);
    fc.assert(
      fc.property(among, (names) => {
        expect(thrownBy(() => activateOnHttp(names))).toMatchObject(refusal);
      }),
    );
  });
});

describe('on the WebSocket', () => {
  it('pty-extensions/v1 is activated once, however often it is named, and nothing else', () => {
    fc.assert(
      fc.property(strangers, fc.nat(3), (names, times) => {
        const named = [...names, ...Array<string>(times).fill(EXTENSION_URI)];
        expect(activateOnWebSocket(named)).toEqual(times === 0 ? [] : [EXTENSION_URI]);
      }),
    );
  });
});

describe('an upgrade', () => {
  let server: AttachServer;
  beforeAll(async () => {
    server = await startAttachServer();
  });
  afterAll(() => server.close());

  const greeted = async (headers: Record<string, string>) => {
    const url = `ws://127.0.0.1:${server.port}/agents/inst-a/sessions/${server.newSession().id}/attach`;
    const ws = new WebSocket(url, ['pty-ws.v1'], { headers: { authorization: `Bearer ${server.token()}`, ...headers } });
    const [response] = await once(ws, 'upgrade');
    ws.terminate();
    return response.headers['a2a-extensions'];
  };

  it('is answered with what became active, whichever header named it', async () => {
    expect(await greeted({ 'A2A-Extensions': `https://other.example/v1, ${EXTENSION_URI}` })).toBe(EXTENSION_URI);
    expect(await greeted({ 'X-A2A-Extensions': EXTENSION_URI })).toBe(EXTENSION_URI);
    expect(await greeted({ 'A2A-Extensions': 'https://other.example/v1' })).toBeUndefined();
  });
});

function thrownBy(act: () => unknown): Fault {
  try {
    act();
  } catch (error) {
    if (error instanceof Fault) return error;
  }
  throw new Error('nothing was refused');
}
