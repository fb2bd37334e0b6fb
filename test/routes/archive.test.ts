// A session that has ended and left Redis: everything of it is served from the archive, as from the log, until that is over, too.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openDirectoryStore } from '../../src/log/archived/directory.js';
import { readSegmentName, type SegmentName } from '../../src/log/archived/names.js';
import { s3Store } from '../../src/log/archived/s3.js';
import type { ArchiveStore } from '../../src/log/archived/store.js';
import { message } from '../a2a/speaker.js';
import { needs } from '../support/needs.js';
import { plainClient } from '../support/plain-client.js';
import { type RedisServer, startRedis, until } from '../support/redis.js';
import { S3_PROGRAM, startS3 } from '../support/s3.js';
import { type Answer, type Gateway, startGateway } from './gateway.js';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const LINES = 200_000;
const TOKEN = `ghp_${'aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gH3jK5'}`;
const agents = {
  free: {
    name: 'Shell',
    command: ['/bin/bash'],
    allow_command_override: true,
    pty: { replay_buffer_frames: 20, replay_buffer_retention_seconds: 1 },
  },
};

/** Somewhere to archive to, and how to look into it. */
interface Place {
  readonly env: Readonly<Record<string, string>>;
  readonly store: ArchiveStore;
  dispose(): Promise<void>;
}

needs('redis-server', 'redis-cli')('a session that is in a folder alone', () => {
  archived(async () => {
    const dir = await mkdtemp(join(tmpdir(), 'archive-'));
    const env = { ARCHIVE_URL: pathToFileURL(dir).href };
    return { env, store: await openDirectoryStore(dir), dispose: () => rm(dir, { recursive: true }) };
  });
});

needs(
  'redis-server',
  'redis-cli',
  S3_PROGRAM,
)('a session that is in a bucket alone', () => {
  archived(async () => {
    const server = await startS3();
    for (const [name, value] of Object.entries(server.env)) vi.stubEnv(name, value);
    const store = s3Store({ bucket: server.bucket, prefix: 'a/b', endpoint: server.endpoint, pathStyle: true });
    const dispose = async (): Promise<void> => {
      store.close();
      vi.unstubAllEnvs();
      await server.stop();
    };
    return { env: { ...server.env, ARCHIVE_URL: `s3://${server.bucket}/a/b` }, store, dispose };
  });
});

function archived(open: () => Promise<Place>): void {
  let redis: RedisServer;
  let place: Place;
  let dir: string;
  let gw: Gateway;
  let session: Answer['json'];
  /** Of a message of Bob's. */
  let task: Answer['json'];
  const before: Record<string, string> = {};

  const start = async (retention: number): Promise<Gateway> =>
    startGateway({
      REDIS_URL: redis.url,
      AGENTS_FILE: join(dir, 'agents.json'),
      ...place.env,
      ARCHIVE_RETENTION_SECONDS: `${retention}`,
    });
  const path = () => `/agents/free/sessions/${session.session_id}`;
  const read = async (at: string): Promise<string> => (await gw.call('GET', path() + at)).text;
  /** Also where the machine is too busy to draw the screen at once. */
  const readWhole = async (at: string): Promise<string> => {
    let answer = await gw.call('GET', path() + at);
    await until(
      `GET ${at} is answered`,
      async () => {
        if (answer.status !== 200) answer = await gw.call('GET', path() + at);
        return answer.status === 200;
      },
      30_000,
    );
    return answer.text;
  };
  const ask = (method: string, at: string, sub: string, body?: object): Promise<Answer> =>
    gw.call(method, `/agents/free/a2a/v1${at}`, {
      token: gw.token('pty:control', { sub, sessions: ['own'] }),
      body,
      headers: { 'a2a-version': '1.0' },
    });
  const reads = [
    '/transcript',
    '/transcript?format=text',
    '/transcript?format=text&q=9999',
    '/transcript?q=19999',
    '/transcript?format=asciicast',
    '/transcript?format=text&from=6&to=12',
    '/screen',
    '/screen?format=ansi',
  ];

  beforeAll(async () => {
    redis = await startRedis();
    place = await open();
    dir = await mkdtemp(join(tmpdir(), 'agents-'));
    await writeFile(join(dir, 'agents.json'), JSON.stringify({ agents }));
    gw = await start(3600);
    session = await gw.session({ argv: ['/bin/bash', '-c', `seq 1 ${LINES}`] });
    await until('it has ended', async () => JSON.parse(await read('')).state === 'closed', 30_000);
    ({ task } = (await ask('POST', '/message:send', 'bob', { message: message(`echo ${TOKEN}; exit`) })).json);
    for (const at of ['', ...reads]) before[at] = await readWhole(at);
    const retentionMs = agents.free.pty.replay_buffer_retention_seconds * 1000;
    await until('the log keeps them no more', () => Date.parse(task.status.timestamp) + retentionMs < Date.now());
    await gw.close();
    gw = await start(3600);
  });
  afterAll(async () => {
    await gw.close();
    await redis.dispose();
    await place.dispose();
    await rm(dir, { recursive: true });
  });

  it('is no more in Redis, but for its record', async () => {
    expect(await redis.tell('exists', `pty:{${session.session_id}}:log`)).toBe('0');
    expect(await redis.tell('exists', `pty:{${session.session_id}}:meta`)).toBe('1');
  });

  it('is described and listed as before', async () => {
    const { replica_id: _, pty_ws_url: __, ...described } = JSON.parse(await read(''));
    expect(JSON.parse(before[''] as string)).toMatchObject(described);
    expect(described.oldest_sequence).toBe(1);
    const { sessions } = (await gw.call('GET', '/agents/free/sessions')).json;
    expect(sessions.map((one: { session_id: string }) => one.session_id).sort()).toEqual([session.session_id, task.id].sort());
  });

  it.each(reads)('is read as before by %s', async (at) => {
    expect((before[at] as string).length).toBeGreaterThan(100);
    expect(await readWhole(at)).toBe(before[at]);
  });

  it('has its task as before, with history and artifacts and without secrets, for those who may see it alone', async () => {
    expect(task).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' }, history: [{ role: 'ROLE_USER' }] });
    expect(task.artifacts.map(({ artifactId }: { artifactId: string }) => artifactId)).toEqual(['output', 'screen']);
    expect(await redis.tell('exists', `pty:{${task.id}}:log`)).toBe('0');
    const now = await ask('GET', `/tasks/${task.id}`, 'bob');
    expect([now.status, now.json]).toEqual([200, task]);
    expect((await ask('GET', '/tasks', 'bob')).json.tasks.map(({ id }: { id: string }) => id)).toEqual([task.id]);
    expect(now.text).toContain('ghp_****');
    expect(now.text).not.toContain(TOKEN.slice(8));
    const [hidden, unknown] = [await ask('GET', `/tasks/${task.id}`, 'eve'), await ask('GET', '/tasks/none', 'eve')];
    expect([hidden.status, hidden.text.replaceAll(task.id, 'none')]).toEqual([404, unknown.text]);
    expect((await ask('GET', '/tasks', 'eve')).json.tasks).toEqual([]);
  });

  it('is replayed from its first frame to its last', async () => {
    const client = await plainClient(session.pty_ws_url.replace(/^ws:\/\/[^/]+/, gw.base.replace('http', 'ws')), gw.token('pty:observe'));
    await client.attach({ role: 'observer' }, { replay_from: 0 });
    await client.until('binding_goodbye');
    const output = client.frames.flatMap((frame) =>
      !Buffer.isBuffer(frame) && frame.payload?.kind === 'Output' ? [Buffer.from(`${frame.payload.data}`, 'base64').toString()] : [],
    );
    expect(output.join('')).toBe(Array.from({ length: LINES }, (_, n) => `${n + 1}\r\n`).join(''));
  });

  it('has a gap where an object was taken away: every transcript says which frames are lost, and no cursor goes on from before', async () => {
    const segments = (await place.store.list(`segments/${session.session_id}/`))
      .flatMap((name) => readSegmentName(name) ?? [])
      .sort((a, b) => a.to - b.to);
    const [, lost] = segments as [SegmentName, SegmentName];
    const kept = await place.store.get(lost.name);
    await place.store.delete([lost.name]);
    await gw.close();
    gw = await start(3600);
    const { from, to } = lost;
    const lines = (await readWhole('/transcript'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.filter(({ kind }) => kind === 'Gap')).toEqual([{ sequence: to, ts: expect.any(String), kind: 'Gap', from, to }]);
    expect(lines.filter(({ sequence }) => sequence >= from && sequence < to)).toEqual([]);
    expect(lines.map(({ sequence }) => sequence)).toEqual(lines.map(({ sequence }) => sequence).sort((a, b) => a - b));
    const text = (await readWhole('/transcript?format=text')).split('\n');
    const at = text.indexOf(`[frames ${from} to ${to} are lost]`);
    expect(
      [text.slice(0, at - 1), text.slice(at + 2)].every((part) =>
        part.slice(1, -1).every((line, i) => line === `${Number(part[0]) + i + 1}`),
      ),
    ).toBe(true);
    expect(await readWhole('/transcript?format=text&q=lost')).toBe('');
    expect(await readWhole('/transcript?format=asciicast')).toContain(`"m","frames ${from} to ${to} are lost"]`);
    expect(JSON.parse(await read('')).oldest_sequence).toBe(to + 1);
    await place.store.put(lost.name, kept as Buffer);
  });

  it('is gone without a trace when that is over, which the audit tells', async () => {
    expect((await place.store.list('segments/')).length).toBeGreaterThan(1);
    await gw.close();
    gw = await start(1);
    expect((await gw.call('GET', path())).status).toBe(404);
    expect([...(await place.store.list('segments/')), ...(await place.store.list('records/'))]).toEqual([]);
    expect(await redis.tell('keys', `*${session.session_id}*:log`)).toBe('');
    await expect
      .poll(() => gw.audit())
      .toContainEqual(expect.objectContaining({ event: 'dropped', outcome: 'done', session_id: session.session_id, instance_id: 'free' }));
  });
}
