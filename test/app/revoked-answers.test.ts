// An answer that takes its time ends when what it was asked for with is no longer good.
import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { message, type Speaker, speakTo } from '../a2a/speaker.js';
import { type Gateway, startGateway } from '../routes/gateway.js';

/** Printed control characters, each of which is six characters of JSON: more than sockets hold between a gateway and one who does not read. */
const BYTES = 4 * 1024 * 1024;

let dir: string;
let gateway: Gateway;
beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), 'revoked-'));
  gateway = await startGateway({ LOG_LEVEL: 'error', REVOCATION_FILE: path.join(dir, 'revoked') });
});
afterAll(async () => {
  await gateway.close();
  await rm(dir, { recursive: true });
});

const revoke = (sub: string) => appendFile(path.join(dir, 'revoked'), `sub:${sub}\n`);
const as = (sub: string): Speaker => speakTo(gateway, 'free', { token: gateway.token('pty:control', { sub }) });
const told = (principal: string) => gateway.audit().filter((line) => line.principal === principal);

describe('when its token is revoked', () => {
  it.each([
    ['carol', (agent: Speaker, asked: object) => agent.rest('POST', '/message:send', asked)],
    ['dave', (agent: Speaker, asked: object) => agent.rpc('SendMessage', asked)],
  ])('a message that waits for its task to rest is answered so, and the task goes on (%s)', async (sub, send) => {
    const answer = send(as(sub), { message: message('sleep 60; echo so it is') });
    await expect.poll(() => told(sub).map(({ event }) => event), { timeout: 10_000 }).toContain('session_create');
    await revoke(sub);
    const { status, text } = await answer;
    expect(text).toContain('the token was revoked');
    expect(text).not.toContain('sleep');
    expect(status).toBe(401);
    const { sessions } = (await gateway.call('GET', '/agents/free/sessions?state=running')).json;
    expect(sessions.map((session: { created_by: string }) => session.created_by)).toContain(sub);
  });

  it('a stream of events ends', async () => {
    const events = await as('erin').stream('POST', '/message:stream', { message: message('sleep 60') });
    const all = events.all();
    await expect.poll(() => told('erin').map(({ event }) => event), { timeout: 10_000 }).toContain('session_create');
    await revoke('erin');
    expect(JSON.stringify(await all)).not.toContain('TASK_STATE_INPUT_REQUIRED');
  });

  it('a transcript that is read slowly is cut off', async () => {
    const session = await gateway.session({ argv: ['/bin/bash', '-c', `head -c ${BYTES} /dev/zero | tr '\\0' '\\1'`] });
    const at = `/agents/free/sessions/${session.session_id}`;
    await expect.poll(async () => (await gateway.call('GET', at)).json.state, { timeout: 20_000 }).toBe('closed');
    const token = gateway.token('pty:observe', { sub: 'frank' });
    const response = await new Promise<IncomingMessage>((answered) => {
      get(`${gateway.base}${at}/transcript`, { headers: { authorization: `Bearer ${token}` } }, answered);
    });
    response.pause();
    // Who is watched after it is told after it.
    const isOver = new Promise<string>((over) =>
      gateway.app.validity.watch({ name: 'frank', scope: 'pty:observe', instances: undefined, sessions: undefined }, over),
    );
    await revoke('frank');
    expect(await isOver).toBe('the token was revoked');
    const cut = new Promise((error) => response.once('error', error));
    response.resume();
    expect(await cut).toMatchObject({ code: 'ECONNRESET' });
    expect(gateway.logged()).toBe('');
  });
});
