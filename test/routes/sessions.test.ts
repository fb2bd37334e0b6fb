import type { TSchema } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as schemas from '../../routes/schemas.js';
import { isId, newId } from '../../src/protocol/ids.js';
import { type Answer, type Gateway, startGateway } from './gateway.js';

let gw: Gateway;
beforeAll(async () => {
  gw = await startGateway();
});
afterAll(() => gw.close());

const keeps = (schema: TSchema, value: unknown) =>
  expect([...Value.Errors(schema, value)].map(({ path, message }) => `${path} ${message}`)).toEqual([]);
const at = (session: Answer['json'], rest = '') => `/agents/${session.instance_id}/sessions/${session.session_id}${rest}`;
const expectError = (answer: Answer, status: number, code: string, message: string | RegExp = /./) => {
  expect([answer.status, answer.json?.error?.code]).toEqual([status, code]);
  expect(answer.json.error.message).toMatch(message);
  keeps(schemas.ErrorBody, answer.json);
};
/** Asks again until the session is closed; its test's time limit bounds it. */
async function closed(session: Answer['json']): Promise<Answer['json']> {
  for (;;) {
    const { json } = await gw.call('GET', at(session));
    if (json.state === 'closed') return json;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

describe('POST /agents/:inst/sessions', () => {
  it('starts a session and tells of it as the contract says', async () => {
    const answer = await gw.call('POST', '/agents/free/sessions', {
      token: gw.token(),
      body: { argv: ['/bin/cat'], cols: 90, rows: 20, label: 'mine' },
    });
    expect(answer.status).toBe(201);
    keeps(schemas.Session, answer.json);
    const { session_id } = answer.json;
    expect(isId(session_id)).toBe(true);
    expect(answer.json).toMatchObject({
      instance_id: 'free',
      state: 'running',
      cols: 90,
      rows: 20,
      label: 'mine',
      created_by: 'alice',
      replica_id: 'r1',
      controllers: [],
      observers: [],
    });
    expect(answer.json.pty_ws_url).toBe(`${gw.base.replace('http', 'ws')}/agents/free/sessions/${session_id}/attach`);
    expect(answer.json.pty_ws_subprotocols).toEqual(['pty-ws.v1', 'pty-ws.v1.binary']);
    expect(answer.headers.get('location')).toBe(`${gw.base}/agents/free/sessions/${session_id}`);
  });

  it('needs no body at all', async () => {
    for (const headers of [{}, { 'content-type': 'application/json' }]) {
      expect((await gw.call('POST', '/agents/fixed/sessions', { headers })).status).toBe(201);
    }
  });

  it('refuses, where the command is fixed, another one and another environment', async () => {
    for (const body of [{ argv: ['/bin/true'] }, { env: { A: '1' } }, { cwd: '/' }]) {
      expectError(await gw.call('POST', '/agents/fixed/sessions', { body }), 403, 'PERMISSION_DENIED');
    }
  });

  it('says with 422 what cannot be started', async () => {
    expectError(
      await gw.call('POST', '/agents/free/sessions', { body: { argv: ['/no/such/program'] } }),
      422,
      'INVALID_REQUEST',
      /\/no\/such\/program/,
    );
  });

  it.each([
    [{ cols: 0 }, 'body.cols: expected an integer from 1 to 1024, got 0'],
    [{ cols: '80' }, 'body.cols: expected an integer from 1 to 1024, got "80"'],
    [{ argv: [] }, 'body.argv: expected an array of 1 to 256 items, got an array of 0'],
    [{ secrets: ['abc'] }, 'body.secrets.0: expected a string of 4 to 4096 characters, got a string of 3 characters'],
    [{ default_role: 'owner' }, 'body.default_role: expected "controller" or "observer", got "owner"'],
    [{ colls: 3 }, 'body.colls is unknown here'],
    [[], 'body: expected an object, got an array of 0'],
  ])('names the field of %o that is wrong', async (body, message) => {
    const answer = await gw.call('POST', '/agents/free/sessions', { body });
    expectError(answer, 400, 'INVALID_REQUEST');
    expect(answer.json.error.message).toBe(message);
  });

  it('refuses what is no JSON, too much, or another type', async () => {
    const post = (body: string, headers = {}) => gw.call('POST', '/agents/free/sessions', { body, headers });
    expectError(await post('{'), 400, 'INVALID_REQUEST', 'the body is not valid JSON');
    expectError(await post('null'), 400, 'INVALID_REQUEST', 'body: expected an object, got null');
    expectError(await post('{"__proto__": {"cols": 1}}'), 400, 'INVALID_REQUEST');
    expectError(await post(JSON.stringify({ label: 'x'.repeat(1_100_000) })), 413, 'INVALID_REQUEST', 'the body is too large');
    expectError(await post('<a/>', { 'content-type': 'text/xml' }), 415, 'INVALID_REQUEST', 'expected Content-Type: application/json');
  });

  it('makes one session of one Idempotency-Key and body', async () => {
    const post = (body: object, key = 'once', token = gw.token()) =>
      gw.call('POST', '/agents/free/sessions', { token, body, headers: { 'idempotency-key': key } });
    const [first, second] = await Promise.all([
      post({ label: 'a', env: { A: '1', B: '2' } }),
      post({ env: { B: '2', A: '1' }, label: 'a' }),
    ]);
    expect([first?.status, second?.status, second?.json.session_id]).toEqual([201, 201, first?.json.session_id]);
    expectError(await post({ label: 'b' }), 409, 'INVALID_REQUEST', 'this Idempotency-Key was used with another body');
    expect((await post({ label: 'b' }, 'another')).json.session_id).not.toBe(first?.json.session_id);
    expect((await post({ label: 'a' }, 'once', gw.token('pty:control', { sub: 'bob' }))).json.created_by).toBe('bob');
  });

  it('forgets the key of what failed', async () => {
    const post = (body: object) => gw.call('POST', '/agents/free/sessions', { body, headers: { 'idempotency-key': 'failed' } });
    expect((await post({ argv: ['/no/such/program'] })).status).toBe(422);
    expect((await post({ argv: ['/bin/cat'] })).status).toBe(201);
  });

  it('needs pty:control, for all sessions of that agent', async () => {
    const post = async (token: string) => (await gw.call('POST', '/agents/free/sessions', { token })).status;
    expect(await post('')).toBe(401);
    expect(await post(gw.token('pty:observe'))).toBe(403);
    expect(await post(gw.token('pty:control', { instances: ['fixed'] }))).toBe(403);
    expect(await post(gw.token('pty:control', { sessions: [newId()] }))).toBe(403);
  });

  it('leaves lines in the audit', async () => {
    const session = await gw.session();
    await gw.call('POST', '/agents/free/sessions', { token: gw.token('pty:observe', { sub: 'eve' }) });
    await expect
      .poll(() => gw.audit())
      .toContainEqual(expect.objectContaining({ event: 'session_create', outcome: 'denied', principal: 'eve', instance_id: 'free' }));
    expect(gw.audit()).toContainEqual(
      expect.objectContaining({
        event: 'session_create',
        outcome: 'done',
        principal: 'alice',
        session_id: session.session_id,
        address: '127.0.0.1',
      }),
    );
  });
});

describe('GET /agents/:inst/sessions', () => {
  it('lists all of an agent, the newest first, page by page', async () => {
    const made = [];
    for (let i = 0; i < 5; i++) made.unshift((await gw.session()).session_id);
    const all = (await gw.call('GET', '/agents/free/sessions?page_size=200')).json;
    keeps(schemas.SessionPage, all);
    expect(all.next_page_token).toBeNull();
    const ids = all.sessions.map((s: Answer['json']) => s.session_id);
    expect(ids.slice(0, 5)).toEqual(made);
    const paged: string[] = [];
    for (let token = ''; token !== null; ) {
      const { json } = await gw.call('GET', `/agents/free/sessions?page_size=2${token && `&page_token=${token}`}`);
      expect(json.sessions.length).toBeLessThanOrEqual(2);
      paged.push(...json.sessions.map((s: Answer['json']) => s.session_id));
      token = json.next_page_token;
    }
    expect(paged).toEqual(ids);
  });

  it('tells running and closed ones apart', async () => {
    const session = await gw.session({ argv: ['/bin/true'] });
    await closed(session);
    const list = async (state: string) => (await gw.call('GET', `/agents/free/sessions?page_size=200&state=${state}`)).json.sessions;
    expect(await list('closed')).toContainEqual(
      expect.objectContaining({ session_id: session.session_id, exit_code: 0, reason: 'command_result' }),
    );
    expect((await list('running')).every((s: Answer['json']) => s.state === 'running')).toBe(true);
  });

  it('shows a token the sessions that it may see', async () => {
    const { session_id } = await gw.session();
    const token = gw.token('pty:observe', { sessions: [session_id] });
    expect((await gw.call('GET', '/agents/free/sessions', { token })).json.sessions.map((s: Answer['json']) => s.session_id)).toEqual([
      session_id,
    ]);
  });

  it.each([
    ['page_size=0', 'query.page_size: expected an integer from 1 to 200, got 0'],
    ['page_size=1.5', 'query.page_size: expected an integer from 1 to 200, got "1.5"'],
    ['page_size=true', 'query.page_size: expected an integer from 1 to 200, got "true"'],
    ['page_size=many', 'query.page_size: expected an integer from 1 to 200, got "many"'],
    ['state=open', 'query.state: expected "running" or "closed", got "open"'],
    ['page_token=x', 'query.page_token: expected the next_page_token of an earlier answer'],
    ['limit=3', 'query.limit is unknown here'],
  ])('says what is wrong with ?%s', async (query, message) => {
    const answer = await gw.call('GET', `/agents/free/sessions?${query}`);
    expectError(answer, 400, 'INVALID_REQUEST');
    expect(answer.json.error.message).toBe(message);
  });
});

describe('a session', () => {
  it('is told to who may see it, and the ACL is looked at before it is known to exist', async () => {
    const session = await gw.session();
    const get = async (path: string, token: string) => (await gw.call('GET', path, { token })).status;
    expect(await get(at(session), gw.token('pty:observe'))).toBe(200);
    for (const path of [at(session), `/agents/free/sessions/${newId()}`, '/agents/nobody/sessions/x']) {
      expect(await get(path, '')).toBe(401);
      expect(await get(path, gw.token('pty:observe', { instances: ['fixed'] }))).toBe(403);
      expect(await get(path, gw.token('pty:observe', { sessions: [newId()] }))).toBe(403);
    }
  });

  it.each([
    '/agents/nobody/sessions',
    '/agents/free/sessions/x',
    `/agents/free/sessions/${newId()}`,
    '/agents/free/sessions/..%2f..%2fetc',
    `/agents/free/sessions/${'x'.repeat(200)}`,
    '/nothing',
    '/agents/%zz/sessions',
  ])('is 404 at %s', async (path) => {
    expectError(await gw.call('GET', path), 404, 'TASK_NOT_FOUND');
  });

  it('of another agent is 404', async () => {
    const { session_id } = await gw.session();
    expectError(await gw.call('GET', `/agents/fixed/sessions/${session_id}`), 404, 'TASK_NOT_FOUND');
  });

  it('is ended by its creator or an admin, once', async () => {
    const session = await gw.session();
    expectError(await gw.call('DELETE', at(session), { token: gw.token('pty:control', { sub: 'bob' }) }), 403, 'PERMISSION_DENIED');
    const answer = await gw.call('DELETE', at(session), { token: gw.token() });
    expect(answer.status).toBe(202);
    keeps(schemas.Session, answer.json);
    const told = await closed(session);
    keeps(schemas.Session, told);
    expect(told).toMatchObject({ state: 'closed', reason: 'killed', exit_code: null, closed_by: 'alice' });
    expectError(await gw.call('DELETE', at(session)), 409, 'TASK_NOT_CANCELABLE');
    await expect
      .poll(() =>
        gw
          .audit()
          .filter((line) => line.session_id === session.session_id && line.event === 'session_close')
          .map(({ outcome, principal }) => [outcome, principal]),
      )
      .toEqual(
        expect.arrayContaining([
          ['denied', 'bob'],
          ['done', 'alice'],
          ['done', null],
          ['failed', 'alice'],
        ]),
      );
  });

  it('may be ended by an admin who did not create it', async () => {
    const session = await gw.session();
    expect(
      (
        await gw.call('DELETE', at(session), {
          token: gw.token('pty:admin', { sub: 'root' }),
          headers: { 'content-type': 'application/json' },
        })
      ).status,
    ).toBe(202);
  });
});

describe('GET …/screen', () => {
  it('tells what the terminal shows now, as JSON, text or bytes for a terminal', async () => {
    const session = await gw.session({ argv: ['/bin/sh', '-c', 'printf "one\\r\\n\\033[31mtwo\\033[0m"; exec cat'], cols: 20, rows: 4 });
    const screen = (format: string) => gw.call('GET', at(session, `/screen${format}`), { token: gw.token('pty:observe') });
    await expect.poll(async () => (await screen('')).json?.lines).toEqual(['one', 'two', '', '']);
    const { json } = await screen('?format=json');
    keeps(schemas.Screen, json);
    expect(json).toMatchObject({ cols: 20, rows: 4, cursor: { row: 1, col: 3, visible: true } });
    const text = await screen('?format=text');
    expect([text.headers.get('content-type'), text.text]).toEqual(['text/plain; charset=utf-8', 'one\ntwo\n\n\n']);
    const ansi = await screen('?format=ansi');
    expect(ansi.headers.get('content-type')).toBe('application/octet-stream');
    expect(ansi.text).toContain('\x1b[');
    expectError(await screen('?format=gif'), 400, 'INVALID_REQUEST', 'query.format: expected json, text, ansi, svg or png');
    await expect
      .poll(() => gw.audit())
      .toContainEqual(expect.objectContaining({ event: 'screen_read', outcome: 'granted', session_id: session.session_id }));
  });

  it('is a picture that may do nothing but be looked at, and is sent once for each change', async () => {
    const session = await gw.session({
      argv: ['/bin/sh', '-c', 'printf "\\033[31mhello\\033[0m"; read x; echo more'],
      cols: 20,
      rows: 4,
      label: 'Seen',
    });
    const get = (query: string, headers = {}) =>
      fetch(`${gw.base}${at(session, `/screen?${query}`)}`, {
        headers: { authorization: `Bearer ${gw.token('pty:observe')}`, ...headers },
      });
    await expect.poll(async () => (await get('format=svg')).text()).toMatch(/<title>Seen<\/title>.*hello/s);
    const svg = await get('format=svg&theme=light');
    expect(svg.headers.get('content-type')).toBe('image/svg+xml; charset=utf-8');
    expect(svg.headers.get('content-security-policy')).toBe("default-src 'none'; style-src 'unsafe-inline'");
    expect(svg.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await svg.text()).toContain('fill="#b3372c"');
    const png = await get('format=png');
    expect(png.headers.get('content-type')).toBe('image/png');
    expect(
      Buffer.from(await png.arrayBuffer())
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
    const etag = png.headers.get('etag') ?? '';
    expect((await get('format=png', { 'if-none-match': etag })).status).toBe(304);
    expect((await get('format=png&theme=light', { 'if-none-match': etag })).status).toBe(200);
    expectError(
      await gw.call('GET', at(session, '/screen?format=png&theme=blue')),
      400,
      'INVALID_REQUEST',
      'query.theme: expected dark or light',
    );
    expect(gw.audit()).toContainEqual(expect.objectContaining({ event: 'screen_read', detail: 'png', session_id: session.session_id }));
    await gw.call('DELETE', at(session), { token: gw.token('pty:admin') });
    await closed(session);
    expect(await (await get('format=svg')).text()).toContain('hello');
  });
});

describe('an admin', () => {
  it('moves the lease and frees it', async () => {
    const session = await gw.session();
    const [first, second] = [await gw.join(session), await gw.join(session)];
    const post = (client_id: string | null, token = gw.token('pty:admin')) =>
      gw.call('POST', at(session, '/controller'), { token, body: { client_id } });
    expectError(await post(null, gw.token()), 403, 'PERMISSION_DENIED', 'this needs the scope pty:admin');
    expect((await post(second.clientId)).status).toBe(200);
    await second.until(({ payload }) => payload.kind === 'RoleAssigned' && payload.role === 'controller');
    await first.until(({ payload }) => payload.kind === 'RoleAssigned' && payload.role === 'observer');
    expect((await post(null)).json.controllers).toEqual([]);
    await second.until(({ payload }) => payload.kind === 'RoleAssigned' && payload.role === 'observer');
    expect((await post('nobody')).status).toBeGreaterThanOrEqual(400);
    expectError(
      await gw.call('POST', at(session, '/controller'), { body: {} }),
      400,
      'INVALID_REQUEST',
      'body.client_id: expected a string of 1 to 128 characters or null, got nothing',
    );
  });

  it('sends a connection away with principal_revoked and 4403', async () => {
    const session = await gw.session();
    const [revoked, stays] = [await gw.join(session), await gw.join(session, 'observer')];
    const member = at(session, `/members/${revoked.clientId}`);
    expectError(await gw.call('DELETE', member, { token: gw.token() }), 403, 'PERMISSION_DENIED');
    expect((await gw.call('DELETE', member)).status).toBe(202);
    expect((await revoked.until(({ op }) => op === 'binding_goodbye')).payload.reason).toBe('principal_revoked');
    expect(await revoked.closed).toBe(4403);
    await stays.until(({ payload }) => payload.kind === 'MembershipChanged' && payload.controllers.length === 0);
    expectError(await gw.call('DELETE', member), 404, 'TASK_NOT_FOUND');
  });
});

describe('a full replica', () => {
  it('answers 503 and when to come again', async () => {
    const small = await startGateway({ MAX_SESSIONS_PER_REPLICA: '1' });
    await small.session();
    const answer = await small.call('POST', '/agents/free/sessions');
    expectError(answer, 503, 'RATE_LIMITED');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    await small.close();
  });
});

describe('behind a proxy', () => {
  it.each(['1', '127.0.0.0/8', 'true'])('with TRUST_PROXY=%s, the audit names the address that the proxy saw', async (TRUST_PROXY) => {
    const proxied = await startGateway({ TRUST_PROXY });
    await proxied.call('POST', '/agents/free/sessions', { headers: { 'x-forwarded-for': '10.1.2.3' } });
    await expect.poll(() => proxied.audit()).toContainEqual(expect.objectContaining({ event: 'session_create', address: '10.1.2.3' }));
    await proxied.close();
  });

  it('is not believed in unless it is trusted', async () => {
    const session = await gw.call('POST', '/agents/free/sessions', { headers: { 'x-forwarded-for': '10.1.2.3' } });
    await expect
      .poll(() => gw.audit())
      .toContainEqual(expect.objectContaining({ event: 'session_create', session_id: session.json.session_id, address: '127.0.0.1' }));
  });
});
