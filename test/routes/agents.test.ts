import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BINDING_URI, EXTENSION_URI } from '../../src/protocol/names.js';
import { type Gateway, startGateway } from './gateway.js';

const card = '/agents/free/.well-known/agent-card.json';
let gw: Gateway;
beforeAll(async () => {
  gw = await startGateway();
});
afterAll(() => gw.close());

describe('the AgentCard', () => {
  it('is public, and names the three interfaces in their order', async () => {
    const { status, json } = await gw.call('GET', card, { token: '' });
    expect(status).toBe(200);
    expect(json.supportedInterfaces).toEqual([
      { url: `${gw.base}/agents/free/a2a/v1`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      { url: `${gw.base}/agents/free/a2a/jsonrpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      {
        url: `${gw.base.replace('http', 'ws')}/agents/free/sessions/{session_id}/attach`,
        protocolBinding: BINDING_URI,
        protocolVersion: '1.0',
      },
    ]);
  });

  it('has no field that A2A 1.0 does not define', async () => {
    const { json } = await gw.call('GET', card);
    expect(Object.keys(json).sort()).toEqual(
      [
        'name',
        'description',
        'version',
        'supportedInterfaces',
        'capabilities',
        'securitySchemes',
        'securityRequirements',
        'defaultInputModes',
        'defaultOutputModes',
        'skills',
      ].sort(),
    );
    expect(Object.keys(json.capabilities).sort()).toEqual(['extendedAgentCard', 'extensions', 'pushNotifications', 'streaming']);
    expect(json.securitySchemes.bearer.httpAuthSecurityScheme.scheme).toBe('bearer');
    expect(json.skills.length).toBeGreaterThan(0);
    expect([json.defaultInputModes, json.defaultOutputModes]).toEqual([['text/plain', 'application/json'], ['text/plain']]);
  });

  it('tells the binding and the extension with their params, none of them empty', async () => {
    const { extensions } = (await gw.call('GET', card)).json.capabilities;
    const params = (uri: string) => extensions.find((e: { uri: string }) => e.uri === uri).params;
    expect(params(BINDING_URI)).toMatchObject({
      preference: 'secondary',
      endpoint: expect.stringMatching(/\/agents\/free\/sessions\/\{session_id\}\/attach$/),
    });
    expect(params(BINDING_URI).operations).toHaveLength(12);
    expect(params(EXTENSION_URI)).toMatchObject({ max_controllers: 1, max_observers: 32, default_cols: 120, default_rows: 30 });
    expect(JSON.stringify(extensions)).not.toMatch(/null|""|\[\]/);
  });

  it('is kept by its ETag', async () => {
    const first = await gw.call('GET', card);
    const etag = first.headers.get('etag') ?? '';
    expect(first.headers.get('cache-control')).toBe('public, max-age=60');
    expect(Date.parse(first.headers.get('last-modified') ?? '')).toBeLessThanOrEqual(Date.now());
    const again = await gw.call('GET', card, { headers: { 'if-none-match': `"other", ${etag}` } });
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
    expect((await gw.call('GET', card, { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });

  it('is 404 for an agent that is not here', async () => {
    expect((await gw.call('GET', '/agents/nobody/.well-known/agent-card.json')).json.error.code).toBe('TASK_NOT_FOUND');
  });

  it('is built from PUBLIC_URL, whose prefix is an address too, stripped by a proxy or not', async () => {
    const prefixed = await startGateway({ PUBLIC_URL: 'https://gateway.example/terminals' });
    const { port } = prefixed.app.server.address() as { port: number };
    for (const path of [card, `/terminals${card}`]) {
      const json = (await (await fetch(`http://127.0.0.1:${port}${path}`)).json()) as { supportedInterfaces: Array<{ url: string }> };
      expect(json.supportedInterfaces.map(({ url }) => url)).toEqual([
        'https://gateway.example/terminals/agents/free/a2a/v1',
        'https://gateway.example/terminals/agents/free/a2a/jsonrpc',
        'wss://gateway.example/terminals/agents/free/sessions/{session_id}/attach',
      ]);
    }
    expect((await fetch(`http://127.0.0.1:${port}/terminalsX${card}`)).status).toBe(404);
    await prefixed.close();
  });
});

describe('GET …/extendedAgentCard', () => {
  it('needs a token that is good for the agent', async () => {
    const status = async (token: string) => (await gw.call('GET', '/agents/free/extendedAgentCard', { token })).status;
    expect(await status('')).toBe(401);
    expect(await status(gw.token('pty:observe', { instances: ['fixed'] }))).toBe(403);
    expect(await status(gw.token('pty:observe'))).toBe(200);
  });

  it('is an operation: pty-extensions/v1 cannot be activated on it', async () => {
    for (const name of ['A2A-Extensions', 'X-A2A-Extensions']) {
      const { status, json } = await gw.call('GET', '/agents/free/extendedAgentCard', { headers: { [name]: `a, ${EXTENSION_URI}` } });
      expect([status, json.error.code, json.error.details.requiredBinding]).toEqual([400, 'UNSUPPORTED_OPERATION', BINDING_URI]);
    }
  });
});

describe('GET /agents', () => {
  const names = async (token: string) => {
    const { status, json } = await gw.call('GET', '/agents', { token });
    return [
      status,
      json.agents?.map(
        (c: { supportedInterfaces: Array<{ url: string }> }) => /agents\/([^/]+)/.exec(c.supportedInterfaces[0]?.url ?? '')?.[1],
      ),
    ];
  };

  it('is a catalog of all cards, or of those that the token is good for', async () => {
    expect(await names('')).toEqual([200, ['free', 'fixed']]);
    expect(await names(gw.token('pty:observe'))).toEqual([200, ['free', 'fixed']]);
    expect(await names(gw.token('pty:observe', { instances: ['fixed'] }))).toEqual([200, ['fixed']]);
  });

  it('does not pass over a token that is not valid', async () => {
    expect(await names('garbage')).toEqual([401, undefined]);
  });
});
