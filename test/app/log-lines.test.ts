// What an operator reads in the log of a day, from a process of its own.
import { afterEach, describe, expect, it } from 'vitest';
import { mintToken } from '../../src/access/token.js';
import { freePort } from '../support/free-port.js';
import { plainClient } from '../support/plain-client.js';
import { type Run, run } from './process.js';

const SECRET = 'a secret of the tests, long enough for HS256';
const KEYS = ['2026-05', '2026-04'].map((kid) => `${kid}:${Buffer.alloc(32, kid).toString('base64')}`).join(',');
const INFO = 30;
const TRACE = 'a'.repeat(32);
let gateway: Run;
afterEach(() => void gateway.child.kill('SIGKILL'));

describe('The log', () => {
  it('has a line for what is asked about, under the same names, and no error for what clients do', async () => {
    const port = await freePort();
    gateway = run(['serve'], {
      PORT: `${port}`,
      AUTH_JWT_SECRET: SECRET,
      REPLICA_ID: 'r1',
      DRAIN_SECONDS: '0',
      REPLAY_ENCRYPTION_KEYS: KEYS,
      MAX_SESSIONS_PER_REPLICA: '1',
    });
    await gateway.prints(/the gateway is ready/);
    const token = (scope: 'pty:observe' | 'pty:control') => mintToken(SECRET, { sub: 'alice', scope, ttlSeconds: 60 });
    const ask = async (method: string, path: string, authorization: string, body?: object) =>
      fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers: { authorization, traceparent: `00-${TRACE}-${'1'.repeat(16)}-01`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      });
    const made = (await (await ask('POST', '/agents/shell/sessions', `Bearer ${token('pty:control')}`, {})).json()) as {
      session_id: string;
    };
    const session = { session_id: made.session_id, instance_id: 'shell', replica_id: 'r1' };
    await ask('POST', '/agents/shell/sessions', `Bearer ${token('pty:observe')}`, {});
    await ask('GET', `/agents/shell/sessions/${made.session_id}`, 'Bearer not-a-token');
    await ask('POST', '/agents/shell/sessions', `Bearer ${token('pty:control')}`, { argv: 7 });
    await ask('POST', '/agents/shell/sessions', `Bearer ${token('pty:control')}`, {});
    const client = await plainClient(`ws://127.0.0.1:${port}/agents/shell/sessions/${made.session_id}/attach`, token('pty:observe'));
    await client.attach({ role: 'observer' }, { service_parameters: { trace_id: `00-${TRACE}-${'2'.repeat(16)}-01` } });
    await client.answer(client.type('x'));
    await client.answer(client.say('CancelTask', { task_id: 'none' }));
    client.ws.terminate();
    await gateway.prints(/client left/);
    gateway.child.kill('SIGTERM');
    await gateway.exit;

    const lines = gateway.out
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const told = (msg: string) => lines.filter((line) => line.msg === msg);
    expect(told('the gateway is ready')).toMatchObject([
      {
        version: expect.stringMatching(/^\d/),
        log: 'embedded',
        agents: ['shell'],
        traces: false,
        sealing_keys: ['2026-05', '2026-04'],
      },
    ]);
    expect(told('session started')).toMatchObject([{ ...session, principal: 'alice' }]);
    const who = { ...session, principal: 'alice', client_id: expect.any(String), trace_id: TRACE };
    expect(told('client attached')).toMatchObject([{ ...who, role: 'observer' }]);
    expect(told('client left')).toMatchObject([who]);
    expect(told('session closed')).toMatchObject([{ ...session, reason: 'instance_terminated' }]);
    expect(told('request').map(({ status }) => status)).toEqual([201, 403, 401, 400, 503]);
    expect(told('request')[0]).toMatchObject({ instance_id: 'shell', principal: 'alice', trace_id: TRACE, replica_id: 'r1' });
    expect(told('request')[2]).toMatchObject({ ...session, why: 'the token is not valid' });
    const full = { msg: 'request', status: 503, why: 'this replica runs its 1 sessions; try again later', principal: 'alice' };
    expect(lines.filter(({ level }) => Number(level) > INFO)).toMatchObject([full]);
    expect(told('the gateway has ended')).toHaveLength(1);
    expect(gateway.out).not.toMatch(/not-a-token|eyJ/);
    for (const key of KEYS.match(/[^:,]{40,}/g) ?? ['none']) expect(gateway.out).not.toContain(key);
  });
});
