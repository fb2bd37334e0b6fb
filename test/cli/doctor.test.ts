// `pty-gateway doctor` on real settings, files, ports and a real Redis.
import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { mintToken } from '../../src/access/token.js';
import { Keyring } from '../../src/keyring.js';
import { openRedisLog } from '../../src/log/redis/redis-log.js';
import { sealedLog } from '../../src/log/sealed/sealed-log.js';
import { makeAuthority } from '../support/authority.js';
import { startCollector } from '../support/collector.js';
import { freePort } from '../support/free-port.js';
import { needs } from '../support/needs.js';
import { startRedis } from '../support/redis.js';
import { startGateway } from '../support/running-gateway.js';
import { startS3 } from '../support/s3.js';
import { command } from './person.js';

const dir = mkdtempSync(join(tmpdir(), 'doctor-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const SECRET = 'Zp4-7hQvT0sWm2_kXr9dLb6NfYc3Jg8A';

interface Finding {
  readonly level: string;
  readonly check: string;
  readonly found: string;
  readonly todo?: string;
}

async function run(args: string[], env: Record<string, string>) {
  const all = { PATH: process.env.PATH, HOME: dir, SHELL: '/bin/sh', DATA_DIR: join(dir, 'data'), AUTH_JWT_SECRET: SECRET, ...env };
  const {
    stdout,
    stderr,
    code = 0,
  } = await promisify(execFile)(process.execPath, [command, 'doctor', ...args], { env: all }).catch((e) => e);
  return { out: String(stdout), err: String(stderr), code: Number(code) };
}

/** What is no `ok`, and the exit code. */
async function complaints(env: Record<string, string>): Promise<{ code: number; found: Finding[] }> {
  const { out, code } = await run(['--json'], { PORT: `${await freePort()}`, ...env });
  return { code, found: (JSON.parse(out) as Finding[]).filter(({ level }) => level !== 'ok') };
}

const file = (name: string, text: string): string => {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
};

const sealingKey = (kid: string, byte: number) => ({ kid, key: Buffer.alloc(32, byte) });
const keyText = (kid: string, byte: number) => `${kid}:${sealingKey(kid, byte).key.toString('base64')}`;

const authority = makeAuthority();
afterAll(() => authority.dispose());
const issued = authority.issue('/CN=gateway', { names: ['DNS:gateway.example'], to: 90 * 86_400 });
const other = authority.issue('/CN=other');
const ended = authority.issue('/CN=gateway', { from: -7200, to: -3600 });
const ownTls = { TLS_CERT_FILE: issued.certFile, TLS_KEY_FILE: issued.keyFile, TLS_CLIENT_CA_FILE: authority.caFile };

describe('The doctor', () => {
  it('finds nothing to do where all is well, changes nothing, and exits with 0', async () => {
    const { out, code } = await run([], { PORT: `${await freePort()}` });
    expect(out).toMatch(/^ok {4}settings: each is as it should be$/m);
    expect(out).toMatch(/^ok {4}agent shell: \/bin\/sh can be started$/m);
    expect(out).toMatch(/^ok {4}DATA_DIR: \S+\/data \(to be made\) can be written/m);
    expect(out).not.toMatch(/^(fail|warn)/m);
    expect(code).toBe(0);
  });

  it('stops at a setting that is wrong, without showing a secret', async () => {
    const { out, code } = await run([], { AUTH_JWT_SECRET: 'hunter2' });
    expect(out).toBe('fail  settings: AUTH_JWT_SECRET has 7 bytes; expected at least 32\n      → correct it: the rest was not looked at\n');
    expect(code).toBe(1);
  });

  it.each<[string, Record<string, string>, number, Partial<Finding>]>([
    ['a secret that may be guessed', { AUTH_JWT_SECRET: 'ab'.repeat(20) }, 0, { level: 'warn', check: 'AUTH_JWT_SECRET' }],
    [
      'no key where others can come',
      { AUTH_JWT_SECRET: '', HOST: '0.0.0.0', PUBLIC_URL: 'https://t.example', TRUST_PROXY: '1' },
      1,
      { level: 'fail', check: 'keys for tokens' },
    ],
    [
      'a public key that is not there',
      { AUTH_JWT_PUBLIC_KEY: '/nowhere.pem' },
      1,
      { level: 'fail', check: 'AUTH_JWT_PUBLIC_KEY', found: expect.stringContaining('ENOENT') },
    ],
    ['keys that cannot be fetched', { AUTH_JWKS_URL: 'http://127.0.0.1:1/' }, 1, { level: 'fail', check: 'AUTH_JWKS_URL' }],
    [
      'a signing key of another kind',
      { CARD_SIGNING_KEY: generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() },
      1,
      { level: 'fail', check: 'CARD_SIGNING_KEY' },
    ],
    [
      'a line that revokes nothing',
      { REVOCATION_FILE: file('revoked', 'mallory\n') },
      1,
      { level: 'fail', check: 'REVOCATION_FILE', found: expect.stringContaining('line 1') },
    ],
    [
      'a command that is not there',
      { AGENTS_FILE: file('a.json', '{"agents": {"x": {"name": "X", "command": ["no-such-program"]}}}') },
      1,
      { level: 'fail', check: 'agent x', found: expect.stringContaining('no-such-program') },
    ],
    ['an agents file that is none', { AGENTS_FILE: file('b.json', '{') }, 1, { level: 'fail', check: 'AGENTS_FILE' }],
    ['more sessions than descriptors', { MAX_SESSIONS_PER_REPLICA: '100000000' }, 0, { level: 'warn', check: 'descriptors' }],
    ['a data folder below a file', { DATA_DIR: `${file('plain', '')}/data` }, 1, { level: 'fail', check: 'DATA_DIR' }],
    ['a public URL that is readable', { PUBLIC_URL: 'http://t.example', TRUST_PROXY: '1' }, 0, { level: 'warn', check: 'PUBLIC_URL' }],
    [
      'a page that may not attach',
      { PUBLIC_URL: 'https://t.example', TRUST_PROXY: '1', ALLOWED_ORIGINS: 'https://u.example' },
      0,
      { level: 'warn', check: 'ALLOWED_ORIGINS' },
    ],
    ['a proxy that nobody named', { PUBLIC_URL: 'https://t.example' }, 0, { level: 'warn', check: 'TRUST_PROXY' }],
    ['an address of Redis that is none', { REDIS_URL: 'http://x' }, 1, { level: 'fail', check: 'REDIS_URL' }],
    [
      'a Redis that does not run',
      { REDIS_URL: 'redis://127.0.0.1:1' },
      1,
      { level: 'fail', check: 'Redis', found: expect.stringContaining('ECONNREFUSED') },
    ],
  ])('tells of %s, and what to do', async (_, env, code, wanted) => {
    const told = await complaints(env);
    expect(told.found.find(({ check }) => check === wanted.check)).toMatchObject({ ...wanted, todo: expect.stringMatching(/\w/) });
    expect(told.code).toBe(code);
  });

  it('tells of all that is wrong with certificates, the archive, the audit and the collector at once', async () => {
    const { found, code } = await complaints({
      TLS_CERT_FILE: ended.certFile,
      TLS_KEY_FILE: ended.keyFile,
      PUBLIC_URL: 'https://t.example',
      TRUST_PROXY: '1',
      TLS_CLIENT_CA_FILE: authority.caFile,
      CLIENT_CERT_MAP_FILE: file('nobody.json', '{"certificates": [{"match": {}, "principal": "x", "scope": "pty:observe"}]}'),
      REVOCATION_FILE: '/nowhere/revoked',
      ARCHIVE_URL: 's3://terminals/x',
      ARCHIVE_ENDPOINT: 'http://127.0.0.1:1',
      AWS_ACCESS_KEY_ID: 'any',
      AWS_SECRET_ACCESS_KEY: 'any',
      AUDIT_FILE: dir,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    });
    const told = Object.fromEntries(found.map(({ level, check, found: what }) => [check, `${level}: ${what}`]));
    expect(told).toEqual({
      TLS_CERT_FILE: expect.stringMatching(/^fail: .*which is over/),
      'TLS_CERT_FILE and PUBLIC_URL': expect.stringMatching(/^warn: .*not good for t\.example/),
      TLS_CLIENT_CA_FILE: expect.stringMatching(/^warn: good until/),
      CLIENT_CERT_MAP_FILE: expect.stringMatching(/^fail: .*certificates\.0\.match/),
      REVOCATION_FILE: expect.stringMatching(/^warn: .*it revokes nothing/),
      ARCHIVE_URL: expect.stringMatching(/^fail: .*ECONNREFUSED/),
      AUDIT_FILE: expect.stringMatching(/^fail: .* is no file/),
      'OTLP collector': expect.stringMatching(/^fail: .*ECONNREFUSED/),
    });
    for (const { todo } of found) expect(todo).toMatch(/\w/);
    expect(code).toBe(1);
  });

  it('tells of keys and folders that do not fit', async () => {
    const { found } = await complaints({
      AUTH_JWT_SECRET: '',
      AUTH_JWT_SECRET_FILE: file('secrets', `${SECRET}\nhunter2\n`),
      TLS_CERT_FILE: issued.certFile,
      TLS_KEY_FILE: other.keyFile,
      ARCHIVE_URL: `file://${file('flat', '')}/archive`,
    });
    expect(found).toMatchObject([
      { check: 'AUTH_JWT_SECRET_FILE', found: expect.stringContaining('line 2 has 7 bytes') },
      { check: 'TLS', found: expect.stringContaining('key values mismatch') },
      { check: 'ARCHIVE_URL', found: expect.stringContaining('flat') },
    ]);
  });

  it('finds a collector, and certificates with their rules, well', async () => {
    const collector = await startCollector();
    const rules = '{"certificates": [{"match": {"subject": "CN=*"}, "principal": "{subject}", "scope": "pty:observe"}]}';
    try {
      const { out } = await run([], {
        PORT: `${await freePort()}`,
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        ...ownTls,
        CLIENT_CERT_MAP_FILE: file('well.json', rules),
        PUBLIC_URL: 'https://gateway.example',
      });
      expect(out).toMatch(/^ok {4}OTLP collector: it takes traces$/m);
      expect(out).toMatch(/^ok {4}TLS_CERT_FILE: good until /m);
      expect(out).toMatch(/^ok {4}TLS_CERT_FILE and PUBLIC_URL: the certificate is good for gateway.example$/m);
      expect(out).toMatch(/^ok {4}CLIENT_CERT_MAP_FILE: /m);
      expect(collector.spans).toEqual([]);
    } finally {
      await collector.close();
    }
  });

  it('tells of what is kept on the disk and does not open with the keys that are given, and of what does', async () => {
    const DATA_DIR = mkdtempSync(join(dir, 'sealed-'));
    const gateway = await startGateway({ DATA_DIR, AUTH_JWT_SECRET: SECRET, REPLAY_ENCRYPTION_KEYS: keyText('k1', 1) });
    const headers = { authorization: `Bearer ${mintToken(SECRET, { sub: 'somebody', scope: 'pty:control', ttlSeconds: 60 })}` };
    for (let i = 0; i < 2; i++) {
      const { status } = await fetch(`http://127.0.0.1:${gateway.port}/agents/shell/sessions`, { method: 'POST', headers });
      expect(status).toBe(201);
    }
    await gateway.stop();
    const { out, code } = await run([], {
      PORT: `${await freePort()}`,
      DATA_DIR,
      REPLAY_ENCRYPTION_KEYS: `${keyText('k2', 2)},${keyText('k1', 1)}`,
    });
    expect(out).toMatch(/^ok {4}what is kept, and REPLAY_ENCRYPTION_KEYS: 2 sessions tried: 2 sealed, and each opens$/m);
    expect(code).toBe(0);
    const told = await Promise.all(
      ['', keyText('k2', 1), keyText('k1', 2)].map((REPLAY_ENCRYPTION_KEYS) => complaints({ DATA_DIR, REPLAY_ENCRYPTION_KEYS })),
    );
    const lacking = 'of 2 sessions tried, 2 cannot be read: it is sealed with the key "k1", which REPLAY_ENCRYPTION_KEYS does not have';
    const other =
      'of 2 sessions tried, 2 cannot be read: it does not open with the key "k1": that is another key, or what is stored was changed';
    for (const [i, found] of [lacking, lacking, other].entries()) {
      expect(told[i]).toMatchObject({ code: 1, found: [{ level: 'fail', check: 'what is kept, and REPLAY_ENCRYPTION_KEYS', found }] });
    }
  });

  describe('at a port that is taken', () => {
    let server: Server | undefined;
    afterEach(() => void server?.close());

    it('tells a gateway that runs already from something else', async () => {
      const gateway = await startGateway();
      const { found } = await complaints({ PORT: `${gateway.port}` });
      expect(found.filter(({ check }) => check === 'HOST and PORT')).toEqual([]);
      await gateway.stop();
      server = createServer((socket) => socket.destroy()).listen(gateway.port, '127.0.0.1');
      const after = await complaints({ PORT: `${gateway.port}` });
      expect(after.found).toMatchObject([{ level: 'fail', check: 'HOST and PORT', found: expect.stringContaining('EADDRINUSE') }]);
      expect(after.code).toBe(1);
    });
  });
});

needs('redis-server', 'redis-cli')('The doctor, of Redis,', () => {
  it('tells of one that stands still now and then, though it answers at once in between', async () => {
    const redis = await startRedis();
    let isOver = false;
    const standstills = (async () => {
      while (!isOver) {
        await redis.tell('CLIENT', 'PAUSE', '400');
        await pause(600);
      }
    })();
    try {
      const { out } = await run([], { REDIS_URL: `redis://127.0.0.1:${redis.port}`, PORT: `${await freePort()}` });
      expect(out).toMatch(/^warn {2}latency: the slowest of 10 answers took \d{3,}\.\d ms\n {6}→ [^\n]*PtyGatewayLogSlow$/m);
    } finally {
      isOver = true;
      await standstills;
      await redis.dispose();
    }
  });

  it('tells what it would lose, and shows no password', async () => {
    const redis = await startRedis('--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru');
    await redis.tell('CONFIG', 'SET', 'requirepass', 'open-sesame');
    try {
      const env = { REDIS_URL: `redis://:open-sesame@127.0.0.1:${redis.port}`, REDIS_DURABLE: 'true', PORT: `${await freePort()}` };
      const { out, code } = await run([], env);
      expect(out).toMatch(/^ok {4}Redis: answers in [\d.]+ ms$/m);
      expect(out).toMatch(/^ok {4}latency: the slowest of 10 answers took [\d.]+ ms$/m);
      expect(out).toMatch(/^ok {4}(version: (Redis|Valkey) \d+\.|sharded pub\/sub: there)/m);
      expect(out).toMatch(/^ok {4}clock: \d+ ms (behind|before) this machine's$/m);
      expect(out).toMatch(
        /^fail {2}eviction: maxmemory-policy is allkeys-lru, maxmemory 100[^\n]*\n {6}→ set maxmemory-policy noeviction$/m,
      );
      expect(out).toMatch(/^warn {2}persistence: appendonly no/m);
      expect(out).toMatch(/^fail {2}REDIS_DURABLE: REDIS_DURABLE is true, but Redis has appendonly no/m);
      expect(out).not.toMatch(new RegExp(`open-sesame|${SECRET}`));
      expect(code).toBe(1);
      const refused = await run([], { ...env, REDIS_URL: `redis://:wrong-word@127.0.0.1:${redis.port}` });
      expect(refused.out).toMatch(/^fail {2}Redis: [^\n]*(WRONGPASS|NOAUTH|invalid username-password)/m);
      expect(refused.out).not.toContain('wrong-word');
    } finally {
      await redis.dispose();
    }
  });

  it('tells what this version cannot use of what is kept there, and changes nothing of it', async () => {
    const redis = await startRedis('--appendonly', 'yes');
    await redis.tell('SET', 'pty:format', '99');
    await redis.tell('SET', 'pty:revoked', 'mallory');
    try {
      const { found, code } = await complaints({ REDIS_URL: `redis://127.0.0.1:${redis.port}` });
      expect(found).toMatchObject([
        { level: 'fail', check: 'pty:format', found: expect.stringContaining('format 99') },
        { level: 'fail', check: 'pty:revoked', found: expect.stringContaining('WRONGTYPE') },
      ]);
      expect(code).toBe(1);
      expect(await redis.tell('GET', 'pty:revoked')).toContain('mallory');
    } finally {
      await redis.dispose();
    }
  });

  it('tells of what other replicas keep there and this one could not read, and changes nothing of it', async () => {
    const redis = await startRedis('--appendonly', 'yes');
    const log = sealedLog(await openRedisLog({ url: redis.url, prefix: 'pty' }), new Keyring([sealingKey('new', 1)]));
    try {
      await (await log.create('a', { label: 'what it is called' }, { frames: 10, seconds: 100 })).release();
      const before = await redis.tell('HGET', 'pty:{a}:meta', 'record');
      const { found, code } = await complaints({ REDIS_URL: redis.url, REPLAY_ENCRYPTION_KEYS: keyText('old', 2) });
      expect(found).toMatchObject([
        {
          level: 'fail',
          check: 'what is kept, and REPLAY_ENCRYPTION_KEYS',
          found: expect.stringContaining('of 1 session tried, 1 cannot'),
        },
      ]);
      expect(found[0]?.found).toContain('the key "new", which REPLAY_ENCRYPTION_KEYS does not have');
      expect(code).toBe(1);
      expect(await redis.tell('HGET', 'pty:{a}:meta', 'record')).toBe(before);
    } finally {
      await log.close();
      await redis.dispose();
    }
  });

  it('finds one that was set up well to be well', async () => {
    const redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'always');
    try {
      const { found, code } = await complaints({ REDIS_URL: `redis://127.0.0.1:${redis.port}`, REDIS_DURABLE: 'true' });
      expect([found, code]).toEqual([[], 0]);
    } finally {
      await redis.dispose();
    }
  });
});

needs('moto_server')('The doctor, of a bucket,', () => {
  it('tells one that is there from one that is not', async () => {
    const { bucket, env, stop } = await startS3();
    try {
      const there = await run([], { PORT: `${await freePort()}`, ARCHIVE_URL: `s3://${bucket}/x`, ...env });
      expect(there.out).toMatch(/^ok {4}ARCHIVE_URL: s3:\/\/terminals\/x can be listed and read/m);
      const { found } = await complaints({ ARCHIVE_URL: 's3://nowhere/x', ...env });
      expect(found).toMatchObject([
        {
          check: 'ARCHIVE_URL',
          level: 'fail',
          found: expect.stringContaining('NoSuchBucket'),
          todo: expect.stringContaining('make the bucket'),
        },
      ]);
    } finally {
      await stop();
    }
  });
});
