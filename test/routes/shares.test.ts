// Links to watch a session: who may make them, what they are good for, and that they end.
import { generateKeyPairSync, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { MAX_SHARES } from '../../src/shares/share.js';
import { type Gateway, startGateway } from './gateway.js';

let gw: Gateway;
let session: { session_id: string; pty_ws_url: string };
let at: string;
beforeAll(async () => {
  gw = await startGateway({ REVOCATION_FILE: path.join(process.env.TMPDIR ?? '/tmp', `no-such-file-${process.pid}`) });
  session = await gw.session();
  at = `/agents/free/sessions/${session.session_id}`;
});
afterAll(() => gw.close());

const make = (body: object = {}, token = gw.token()) => gw.call('POST', `${at}/shares`, { token, body });
const fieldsOf = (url: string) => new URLSearchParams(new URL(url).hash.slice(1));
const tokenOf = (url: string): string => fieldsOf(url).get('token') ?? '';
const ids = async () => (await gw.call('GET', `${at}/shares`)).json.shares.map((share: { share_id: string }) => share.share_id);
/** The status with which an upgrade is answered, or the connection that it became. */
const attach = (token: string) =>
  new Promise<{ ws: WebSocket; status: number }>((resolve) => {
    const ws = new WebSocket(session.pty_ws_url, ['pty-ws.v1'], { headers: { authorization: `Bearer ${token}` } });
    ws.on('open', () => resolve({ ws, status: 101 }));
    ws.on('unexpected-response', (_request, { statusCode = 0 }) => resolve({ ws, status: statusCode }));
    ws.on('error', () => {});
  });

describe('a link', () => {
  it('opens this session, and nothing else, to one who only watches; its token is in the fragment alone', async () => {
    const other = await gw.session();
    const { status, json, headers } = await make({ ttl_seconds: 600, label: 'for Bob' });
    expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
    expect(json).toMatchObject({ instance_id: 'free', session_id: session.session_id, label: 'for Bob', created_by: 'alice' });
    expect(Date.parse(json.expires_at) - Date.parse(json.created_at)).toBe(600_000);
    expect(new URL(json.url).search).toBe('');
    expect(fieldsOf(json.url).get('session')).toBe(`free/${session.session_id}`);

    const token = tokenOf(json.url);
    const seen = (method: string, where: string) => gw.call(method, where, { token }).then((answer) => answer.status);
    expect(await seen('GET', `${at}/screen`)).toBe(200);
    expect(await seen('GET', `/agents/free/sessions/${other.session_id}`)).toBe(403);
    expect(await seen('GET', '/agents/fixed/sessions')).toBe(403);
    for (const [method, where] of [
      ['POST', `${at}/shares`],
      ['GET', `${at}/shares`],
      ['DELETE', at],
      ['POST', '/agents/free/sessions'],
    ] as const)
      expect(await seen(method, where), `${method} ${where}`).toBe(403);
  });

  it('is listed without its token until it is revoked; then who watches with it is sent away and not let in again', async () => {
    const { json } = await make();
    const token = tokenOf(json.url);
    const { ws, status } = await attach(token);
    expect(status).toBe(101);
    expect(await ids()).toContain(json.share_id);
    expect((await gw.call('GET', `${at}/shares`)).text).not.toContain(token.split('.')[2]);

    const closed = new Promise<number>((resolve) => ws.on('close', resolve));
    expect((await gw.call('DELETE', `${at}/shares/${json.share_id}`, { token: gw.token() })).status).toBe(204);
    expect(await closed).toBe(4401);
    expect((await attach(token)).status).toBe(401);
    expect(await ids()).not.toContain(json.share_id);
    expect((await gw.call('DELETE', `${at}/shares/${json.share_id}`)).status).toBe(404);
  });

  it('leaves its lines in the audit', async () => {
    const { json } = await make();
    await make({}, gw.token('pty:observe'));
    await gw.call('DELETE', `${at}/shares/${json.share_id}`);
    const lines = () => gw.audit().filter(({ event, session_id }) => event === 'admin' && session_id === session.session_id);
    const told = () => lines().map(({ outcome, detail }) => `${outcome}: ${detail}`);
    await expect.poll(told).toContain(`done: the link ${json.share_id} is revoked`);
    expect(told()).toContain(`done: the link ${json.share_id} is made, good until ${json.expires_at}`);
    expect(told()).toContain('denied: this needs the scope pty:control');
    expect(JSON.stringify(lines())).not.toContain(tokenOf(json.url));
  });

  it.each([
    [{ ttl_seconds: 59 }, 'body.ttl_seconds: expected an integer from 60 to 604800, got 59'],
    [{ ttl_seconds: 604_801 }, 'body.ttl_seconds: expected an integer from 60 to 604800, got 604801'],
    [{ label: '' }, 'body.label: expected a string of 1 to 128 characters, got ""'],
    [{ role: 'controller' }, 'body.role is unknown here'],
  ])('is refused for %j', async (body, message) => {
    const { status, json } = await make(body);
    expect(status).toBe(400);
    expect(json.error.message).toMatch(message);
  });

  it('is refused for a session that is not there', async () => {
    const { status } = await gw.call('POST', `/agents/free/sessions/${session.session_id.replace(/^./, 'f')}/shares`, { body: {} });
    expect(status).toBe(404);
  });

  it(`is one of at most ${MAX_SHARES} of a session; revoking one makes room`, async () => {
    const mine = await gw.session();
    const where = `/agents/free/sessions/${mine.session_id}/shares`;
    const more = () => gw.call('POST', where, { token: gw.token(), body: {} });
    const made = await Promise.all(Array.from({ length: MAX_SHARES + 3 }, more));
    const full = made.filter(({ status }) => status === 429);
    expect(full).toHaveLength(3);
    expect(full[0]?.json.error.message).toBe(`this session has ${MAX_SHARES} links already; revoke one first`);
    const one = made.find(({ status }) => status === 201);
    await gw.call('DELETE', `${where}/${one?.json.share_id}`);
    expect((await more()).status).toBe(201);
  });
});

describe('what links need', () => {
  it('is a secret to sign with: without one it is said what to set', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const body = `${part({ alg: 'ES256' })}.${part({ sub: 'alice', scope: 'pty:control', exp: Math.floor(Date.now() / 1000) + 60 })}`;
    const token = `${body}.${sign('sha256', Buffer.from(body), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
    const keyless = await startGateway({ AUTH_JWT_SECRET: '', AUTH_JWT_PUBLIC_KEY: pem });
    try {
      const begun = await keyless.call('POST', '/agents/free/sessions', { token, body: {} });
      const { status, json } = await keyless.call('POST', `/agents/free/sessions/${begun.json.session_id}/shares`, { token, body: {} });
      expect([status, json.error.code]).toEqual([400, 'UNSUPPORTED_OPERATION']);
      expect(json.error.message).toContain('AUTH_JWT_SECRET');
    } finally {
      await keyless.close();
    }
  });
});

describe('a link and who made it', () => {
  it('end together: revoking its maker revokes it', async () => {
    const { json } = await make({}, gw.token('pty:control', { sub: 'mallory' }));
    const { ws, status } = await attach(tokenOf(json.url));
    expect(status).toBe(101);
    const closed = new Promise<number>((resolve) => ws.on('close', resolve));
    writeFileSync(gw.app.config.auth.revocationFile as string, 'sub:mallory\n');
    expect(await closed).toBe(4401);
  });
});
