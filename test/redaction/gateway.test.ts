import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { formsOf } from '../../src/redaction/forms.js';
import { type Gateway, startGateway } from '../routes/gateway.js';
import { needs } from '../support/needs.js';
import { type RedisServer, startRedis } from '../support/redis.js';

const SECRET = 'k9!vX2"mQ7/rT4+wZ8';
const KEY = Buffer.alloc(32, 7).toString('base64');
/** Prints the secret, which it has from its environment, and waits to be ended. */
const leak = { argv: ['/bin/sh', '-c', 'echo "before $LEASED after"; exec cat'], env: { LEASED: SECRET } };

let gateway: Gateway;
let redis: RedisServer | undefined;
afterEach(async () => {
  await gateway.close();
  await redis?.dispose();
  redis = undefined;
});

function filesIn(dir: string): Buffer {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  return Buffer.concat(files.map((file) => readFileSync(path.join(file.parentPath, file.name))));
}

const formsIn = (bytes: Buffer): string[] =>
  formsOf(SECRET)
    .map((form) => Buffer.from(form).toString())
    .filter((form) => bytes.includes(form));

/** Begins a session that prints the secret, and waits until a client has seen what it printed; all that the client saw. */
async function leaking(body: object): Promise<{ readonly seen: string; readonly session: { session_id: string } }> {
  const session = await gateway.session({ ...leak, ...body });
  const client = await gateway.join(session);
  let seen = '';
  while (!seen.includes('after')) {
    const { payload } = await client.until(({ payload }) => payload.kind === 'Output' || payload.kind === 'Keyframe');
    seen += Buffer.from(payload.data ?? payload.snapshot, 'base64').toString();
  }
  return { seen, session };
}

describe('A gateway that is given a secret for a session', () => {
  it('has it nowhere in what it answers, and nowhere on its disk', async () => {
    gateway = await startGateway();
    const { seen, session } = await leaking({ secrets: [SECRET], label: SECRET });
    const one = `/agents/free/sessions/${session.session_id}`;
    const answers = await Promise.all(
      [one, '/agents/free/sessions', `${one}/screen`, `${one}/screen?format=text`, `${one}/screen?format=ansi`].map((at) =>
        gateway.call('GET', at),
      ),
    );
    expect(answers[2]?.text).toContain('before ****************** after');
    expect(answers[1]?.json.sessions[0]).toMatchObject({ sensitive: true });
    expect(formsIn(Buffer.from(`${seen}${answers.map(({ text }) => text).join()}`))).toEqual([]);
    await gateway.call('DELETE', one);
    await expect.poll(() => gateway.audit().some(({ event, detail }) => event === 'session_close' && detail !== 'asked for')).toBe(true);
    const disk = filesIn(gateway.dataDir);
    expect(disk.includes('before')).toBe(true);
    expect(formsIn(disk)).toEqual([]);
  });

  it('says in the audit what its sessions disclose', async () => {
    gateway = await startGateway();
    await gateway.session({ secrets: [SECRET] });
    await gateway.session({ redaction: 'off' });
    const raw = await gateway.session({ live_stream: 'raw' });
    await gateway.join(raw);
    const line = (event: string) => gateway.audit().filter((one) => one.event === event);
    await expect
      .poll(() => line('session_create').map(({ detail }) => detail))
      .toEqual(['with secrets', 'redaction off', 'live stream raw']);
    await expect.poll(() => line('attach').at(-1)).toMatchObject({ outcome: 'granted', detail: 'live stream raw' });
  });

  it('shows it to those who watch a raw live stream, and keeps it from everyone else', async () => {
    gateway = await startGateway();
    const { seen, session } = await leaking({
      secrets: [SECRET],
      live_stream: 'raw',
      argv: ['/bin/sh', '-c', 'sleep 0.5; echo "before $LEASED after"; exec cat'],
    });
    expect(seen).toContain(`before ${SECRET} after`);
    const { text } = await gateway.call('GET', `/agents/free/sessions/${session.session_id}/screen?format=text`);
    expect(text).toContain('before ****************** after');
    expect(formsIn(filesIn(gateway.dataDir))).toEqual([]);
  });
});

needs('redis-server')('A gateway with Redis that is given a secret for a session', () => {
  it('has it nowhere in Redis', async () => {
    redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'always', '--aof-use-rdb-preamble', 'no');
    gateway = await startGateway({ REDIS_URL: redis.url });
    await leaking({ secrets: [SECRET] });
    const written = filesIn(redis.dir);
    expect(written.includes('before')).toBe(true);
    expect(formsIn(written)).toEqual([]);
  });

  it('keeps it for a successor in Redis if that is sealed, where it cannot be read', async () => {
    redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'always', '--aof-use-rdb-preamble', 'no');
    gateway = await startGateway({ REDIS_URL: redis.url, REPLAY_ENCRYPTION_KEYS: `k:${KEY}` });
    const { session } = await leaking({ secrets: [SECRET] });
    expect(await gateway.app.sessionLog.record(session.session_id)).toMatchObject({ secrets: [SECRET] });
    const { text } = await gateway.call('GET', `/agents/free/sessions/${session.session_id}`);
    expect(formsIn(Buffer.concat([filesIn(redis.dir), Buffer.from(text)]))).toEqual([]);
    await gateway.call('DELETE', `/agents/free/sessions/${session.session_id}`);
    const record = () => gateway.app.sessionLog.record(session.session_id);
    await expect.poll(record).toMatchObject({ state: 'closed', sensitive: true });
    expect(await record()).not.toHaveProperty('secrets');
  });
});
