import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, startGateway } from './gateway.js';

let gw: Gateway;
beforeAll(async () => {
  gw = await startGateway({ RATE_LIMIT_MAX: '30' });
});
afterAll(() => gw.close());

describe('the probes', () => {
  it('say that the process lives and takes work, to anyone, however often', async () => {
    for (let i = 0; i < 40; i++) expect((await gw.call('GET', '/healthz', { token: '' })).status).toBe(200);
    expect((await gw.call('GET', '/readyz', { token: '' })).json).toEqual({ status: 'ready' });
  });

  it('say that work is not taken while starting, draining, or without the log', async () => {
    const readiness = async () => {
      const { status, json } = await gw.call('GET', '/readyz', { token: '' });
      return [status, json.reason];
    };
    for (const state of ['starting', 'draining'] as const) {
      gw.app.lifecycle.state = state;
      expect(await readiness()).toEqual([503, state]);
    }
    gw.app.lifecycle.state = 'ready';
    const { trouble } = gw.app.sessionLog;
    gw.app.sessionLog.trouble = () => 'the disk is full';
    expect(await readiness()).toEqual([503, 'the disk is full']);
    gw.app.sessionLog.trouble = trouble;
    expect((await gw.call('GET', '/healthz')).status).toBe(200);
  });
});

describe('GET /metrics', () => {
  it('tells Prometheus of the process, its sessions and its connections', async () => {
    const numbers = async () => {
      const { text } = await gw.call('GET', '/metrics', { token: '' });
      return [
        /^pty_gateway_sessions (\d+)$/m.exec(text)?.[1],
        /^pty_gateway_connections (\d+)$/m.exec(text)?.[1],
        text.includes('process_cpu_seconds_total'),
      ];
    };
    expect(await numbers()).toEqual(['0', '0', true]);
    await gw.join(await gw.session());
    expect(await numbers()).toEqual(['1', '1', true]);
  });
});

describe('GET /openapi.json', () => {
  it('tells every HTTP route but the probes of machines, with its answers', async () => {
    const { json } = await gw.call('GET', '/openapi.json');
    expect(
      Object.entries(json.paths)
        .map(([path, methods]) => `${Object.keys(methods as object).join(' ')} ${path}`)
        .sort(),
    ).toEqual(
      [
        'get /admin/replicas',
        'get /admin/replicas/{replica}',
        'post /admin/replicas/{replica}/drain',
        'put /admin/replicas/{replica}/log-level',
        'get /agents',
        'get /agents/{inst}/.well-known/agent-card.json',
        'get /agents/{inst}/extendedAgentCard',
        'post /agents/{inst}/a2a/jsonrpc',
        'get /agents/{inst}/a2a/v1/extendedAgentCard',
        'post /agents/{inst}/a2a/v1/message:send',
        'post /agents/{inst}/a2a/v1/message:stream',
        'get /agents/{inst}/a2a/v1/tasks',
        'get /agents/{inst}/a2a/v1/tasks/{id}',
        'post /agents/{inst}/a2a/v1/tasks/{id}:cancel',
        'get post /agents/{inst}/a2a/v1/tasks/{id}:subscribe',
        'post get /agents/{inst}/a2a/v1/tasks/{taskId}/pushNotificationConfigs',
        'get delete /agents/{inst}/a2a/v1/tasks/{taskId}/pushNotificationConfigs/{configId}',
        'get /agents/{inst}/sessions/{id}/screen',
        'get /agents/{inst}/sessions/{id}/transcript',
        'get /healthz',
        'get /readyz',
        'get delete /agents/{inst}/sessions/{id}',
        'post /agents/{inst}/sessions/{id}/controller',
        'delete /agents/{inst}/sessions/{id}/members/{client_id}',
        'post get /agents/{inst}/sessions/{id}/shares',
        'delete /agents/{inst}/sessions/{id}/shares/{share_id}',
        'post get /agents/{inst}/sessions',
      ].sort(),
    );
    expect(
      json.paths['/agents/{inst}/sessions'].post.responses['201'].content['application/json'].schema.properties.pty_ws_url,
    ).toBeDefined();
    expect(json.paths['/agents/{inst}/sessions'].post.requestBody.content['application/json'].schema.properties.argv).toBeDefined();
    expect(json.servers).toEqual([{ url: gw.base }]);
  });

  it('tells of streams that they are events, and of JSON-RPC which operations there are', async () => {
    const { paths } = (await gw.call('GET', '/openapi.json')).json;
    const answers = (path: string, method: string) => Object.keys(paths[`/agents/{inst}/a2a${path}`][method].responses['200'].content);
    expect(answers('/v1/message:stream', 'post')).toEqual(['text/event-stream']);
    expect(answers('/v1/tasks/{id}:subscribe', 'get')).toEqual(['text/event-stream']);
    expect(answers('/v1/tasks/{id}', 'get')).toEqual(['application/json']);
    expect(answers('/jsonrpc', 'post')).toEqual(['application/json', 'text/event-stream']);
    const { method } = paths['/agents/{inst}/a2a/jsonrpc'].post.requestBody.content['application/json'].schema.properties;
    expect(method.enum).toContain('SubscribeToTask');
  });

  it('says of each what it is for, which part it belongs to, and whether it needs a token', async () => {
    const { json } = await gw.call('GET', '/openapi.json');
    const parts = json.tags.map(({ name }: { name: string }) => name);
    const open: string[] = [];
    for (const [path, methods] of Object.entries<Record<string, { summary: string; tags: string[]; security?: unknown }>>(json.paths)) {
      for (const [method, { summary, tags, security }] of Object.entries(methods)) {
        expect([path, summary, tags.length, parts]).toEqual([path, expect.stringMatching(/^[A-Z]/), 1, expect.arrayContaining(tags)]);
        if (!security) open.push(`${method} ${path}`);
      }
    }
    expect(open.sort()).toEqual(['get /agents', 'get /agents/{inst}/.well-known/agent-card.json', 'get /healthz', 'get /readyz']);
  });
});

describe('what browsers are told', () => {
  it('forbids scripts and frames from elsewhere', async () => {
    const { headers } = await gw.call('GET', '/healthz');
    const csp = headers.get('content-security-policy') ?? '';
    const host = new URL(gw.base).host;
    for (const part of [
      "default-src 'self'",
      "script-src 'self'",
      `connect-src 'self' ws://${host} wss://${host}`,
      "frame-ancestors 'none'",
      "object-src 'none'",
    ]) {
      expect(csp.split('; ')).toContain(part);
    }
    expect(csp).not.toContain('unsafe-eval');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('strict-transport-security')).toBeNull();
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('what is no proper request', () => {
  /** Sends bytes as they are; resolves with all that comes back. */
  const raw = (bytes: string) =>
    new Promise<string>((resolve) => {
      let answer = '';
      const socket = connect(Number(new URL(gw.base).port), '127.0.0.1', () => socket.write(bytes));
      socket.on('data', (data) => {
        answer += data;
      });
      socket.on('close', () => resolve(answer));
    });
  /** The path exactly as given: fetch would tidy it. */
  const asGiven = (path: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      request({ port: new URL(gw.base).port, path }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });

  it('is answered in JSON and cut off', async () => {
    expect(await raw('NONSENSE\r\n\r\n')).toMatch(
      /^HTTP\/1.1 400 [\s\S]*\{"error":\{"code":"INVALID_REQUEST","message":"the request cannot be read: Bad Request"\}\}$/,
    );
    expect(await raw(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`)).toMatch(/^HTTP\/1.1 431 /);
  });

  it.each([
    '/..%2f..%2f..%2fetc/passwd',
    '/../../etc/passwd',
    '/%2e%2e/package.json',
    '/.env',
    '/assets/..%2f..%2fsrc/main.js',
    '//etc/passwd',
    '/%00',
  ])('finds nothing at %s', async (path) => {
    expect(await asGiven(path)).toBe(404);
  });

  it.each(['/', '/healthz', '/metrics', '/agents', '/agents/free/sessions', '/nothing'])('gets no WebSocket at %s', async (path) => {
    const key = Buffer.alloc(16).toString('base64');
    const upgrade = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}`;
    expect(await raw(`GET ${path} HTTP/1.1\r\nHost: x\r\n${upgrade}\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 404 [\s\S]*"message":"no WebSocket is served at this address"/,
    );
  });

  it('never shows a stack', async () => {
    const { list } = gw.app.sessions;
    gw.app.sessions.list = async () => Promise.reject(new Error('the inside of the gateway'));
    const { status, json, text } = await gw.call('GET', '/agents/free/sessions');
    gw.app.sessions.list = list;
    expect([status, json]).toEqual([500, { error: { code: 'INTERNAL', message: 'the gateway failed to do this; its log says why' } }]);
    expect(text).not.toContain('inside');
  });
});
