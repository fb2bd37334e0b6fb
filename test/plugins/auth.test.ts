import { createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PUBLIC_KEY_ALGORITHMS } from '../../src/access/keys.js';
import { mintToken } from '../../src/access/token.js';
import { ConfigError } from '../../src/config.js';
import { SECRET, type SmallApp, smallApp } from './small-app.js';
import { inSeconds, token } from './tokens.js';

const path = '/agents/inst-a/sessions/s1';
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
const p521 = generateKeyPairSync('ec', { namedCurve: 'P-521' });
const ed25519 = generateKeyPairSync('ed25519');
const pem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();
const pairs: Record<string, { publicKey: KeyObject; privateKey: KeyObject }> = { ES256: p256, ES384: p384, ES512: p521, EdDSA: ed25519 };
const pairOf = (alg: string) => pairs[alg] ?? rsa;

async function refusal(response: Response): Promise<{ status: number; code: string; message: string }> {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return { status: response.status, ...error };
}
/** Runs against an app of its own. */
async function using(env: NodeJS.ProcessEnv, act: (app: SmallApp) => Promise<void>): Promise<void> {
  const app = await smallApp(env);
  await act(app).finally(() => app.close());
}

describe('a token of AUTH_JWT_SECRET_FILE', () => {
  const dir = mkdtempSync(join(tmpdir(), 'secrets-'));
  afterAll(() => rmSync(dir, { recursive: true, force: true }));
  const secretFile = join(dir, 'secrets');
  const [before, after] = ['the secret of yesterday, which is long enough', 'the secret of tomorrow, which is long enough'];

  it('is taken with any of its lines, and made with the first, as they are now', async () => {
    writeFileSync(secretFile, `# both\n${before}\n`);
    await using({ AUTH_JWT_SECRET: '', AUTH_JWT_SECRET_FILE: secretFile }, async (app) => {
      const statuses = async () => {
        const asked = [before, after, SECRET].flatMap((key) => ['HS256', 'HS512'].map((alg) => app.get(path, token({}, alg, key))));
        return (await Promise.all(asked)).map(({ status }) => status);
      };
      const look = () => app.app.reloads.look({ info: () => {}, error: (_, message) => expect.fail(message) });
      expect(await statuses()).toEqual([200, 200, 401, 401, 401, 401]);
      writeFileSync(secretFile, `${after}\n${before}\n`);
      await look();
      expect(await statuses()).toEqual([200, 200, 200, 200, 401, 401]);
      expect(app.app.secrets.first).toBe(after);
      writeFileSync(secretFile, `${after}\n`);
      await look();
      expect(await statuses()).toEqual([401, 401, 200, 200, 401, 401]);
    });
  });

  it('is checked as before while the file is being written, until it stands still', async () => {
    writeFileSync(secretFile, `${before}\n`);
    await using({ AUTH_JWT_SECRET: '', AUTH_JWT_SECRET_FILE: secretFile }, async ({ app }) => {
      const read: string[] = [];
      const look = () => app.reloads.look({ info: (_, message) => void read.push(message), error: (_, message) => expect.fail(message) });
      for (const text of ['', after.slice(0, 40), `${after}\n${before.slice(0, 35)}`]) {
        writeFileSync(secretFile, text);
        await look();
        expect([app.secrets.all, read]).toEqual([[before], []]);
      }
      await look();
      expect(app.secrets.all).toEqual([after, before.slice(0, 35)]);
      writeFileSync(secretFile, `${after}\n${before}\n`);
      await look();
      expect(app.secrets.all).toEqual([after, before]);
      expect(read).toHaveLength(2);
    });
  });

  it('is made and checked as before while the file cannot be used, which is told once', async () => {
    writeFileSync(secretFile, before);
    await using({ AUTH_JWT_SECRET: '', AUTH_JWT_SECRET_FILE: secretFile }, async (app) => {
      const wrong: string[] = [];
      writeFileSync(secretFile, `${before}\nhunter2`);
      for (let looks = 0; looks < 3; looks += 1)
        await app.app.reloads.look({ info: () => {}, error: (_, message) => void wrong.push(message) });
      expect(wrong).toEqual([
        `AUTH_JWT_SECRET_FILE stays as it was: AUTH_JWT_SECRET_FILE: ${secretFile}: line 2 has 7 bytes; expected at least 32`,
      ]);
      expect((await app.get(path, token({}, 'HS256', before))).status).toBe(200);
    });
  });

  it('needs a file that says something, instead of AUTH_JWT_SECRET', async () => {
    writeFileSync(secretFile, '# none\n');
    await expect(smallApp({ AUTH_JWT_SECRET: '', AUTH_JWT_SECRET_FILE: secretFile })).rejects.toThrow('it has 0 secrets; expected 1 to 8');
    await expect(smallApp({ AUTH_JWT_SECRET_FILE: secretFile })).rejects.toThrow('are both set; expected one of them');
  });
});

describe('a token of AUTH_JWT_SECRET', () => {
  let app: SmallApp;
  beforeAll(async () => {
    app = await smallApp();
  });
  afterAll(() => app.close());
  const statusOf = async (claims: Record<string, unknown>, alg = 'HS256', key = SECRET) =>
    (await app.get(path, token(claims, alg, key))).status;

  it.each(['HS256', 'HS384', 'HS512'])('is taken with %s, and names the principal', async (alg) => {
    const response = await app.get(path, token({ instances: ['inst-a'] }, alg, SECRET));
    expect(await response.json()).toMatchObject({ name: 'alice', scope: 'pty:control', instances: ['inst-a'] });
  });

  it('is taken as the token command mints it', async () => {
    const minted = mintToken(SECRET, { sub: 'bob', scope: 'pty:admin', ttlSeconds: 60, sessions: ['s1'] });
    expect(await (await app.get(path, minted)).json()).toMatchObject({ name: 'bob', scope: 'pty:admin', sessions: ['s1'] });
  });

  it('is asked for where there is none', async () => {
    const response = await app.get(path);
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="pty-gateway"');
    expect(await refusal(response)).toEqual({
      status: 401,
      code: 'UNAUTHENTICATED',
      message: 'this needs a token, sent as "Authorization: Bearer …"',
    });
  });

  it.each([
    ['garbage', 'garbage'],
    ['three pieces of garbage', 'a.b.c'],
    ['an unsigned one', token({}, 'none', '')],
    ['a foreign signature', token({}, 'HS256', 'another secret, as long as it has to be')],
    ['a public key algorithm', token({}, 'RS256', rsa.privateKey)],
    ['no exp', token({ exp: undefined }, 'HS256', SECRET)],
    ['an exp that is no number', token({ exp: 'tomorrow' }, 'HS256', SECRET)],
    ['an nbf in the future', token({ nbf: inSeconds(60) }, 'HS256', SECRET)],
    ['a scope that is no string', token({ scope: ['pty:admin'] }, 'HS256', SECRET)],
    ['an instance that is no list', token({ instances: 'inst-a' }, 'HS256', SECRET)],
    ['a critical header that nobody knows', token({}, 'HS256', SECRET, { crit: ['x'], x: 1 })],
  ])('is refused with 401 and WWW-Authenticate if it is or has %s', async (_what, bad) => {
    const response = await app.get(path, bad);
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="pty-gateway", error="invalid_token"');
    expect(await refusal(response)).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
  });

  it('is told to have expired', async () => {
    expect(await refusal(await app.get(path, token({ exp: inSeconds(-60) }, 'HS256', SECRET)))).toMatchObject({
      status: 401,
      message: 'the token has expired',
    });
  });

  it('may be off by the clock skew, and not by more', async () => {
    expect(await statusOf({ exp: inSeconds(-2), nbf: inSeconds(-60) })).toBe(200);
    expect(await statusOf({ nbf: inSeconds(3) })).toBe(200);
    expect(await statusOf({ exp: inSeconds(-20) })).toBe(401);
  });

  it.each([
    ['pty:observe', 403],
    ['pty:control', 200],
    ['pty:admin', 200],
    ['email pty:control', 200],
    ['email', 403],
    ['', 403],
  ])('with the scope "%s" is answered %i where pty:control is needed', async (scope, status) => {
    expect(await statusOf({ scope })).toBe(status);
  });

  it('is good for the instances and sessions that it names alone', async () => {
    expect(await statusOf({ instances: ['inst-b'] })).toBe(403);
    expect(await statusOf({ instances: [] })).toBe(403);
    expect(await statusOf({ sessions: ['s2'] })).toBe(403);
    expect(await statusOf({ instances: ['inst-a'], sessions: ['s1'] })).toBe(200);
  });

  it.each([['own'], [['own']], [['s2', 'own']]])(
    'whose sessions are %j may ask for any, for who created it decides; it says whose it is',
    async (sessions) => {
      expect(await statusOf({ sessions })).toBe(200);
      const nobody = await refusal(await app.get(path, token({ sessions, sub: undefined }, 'HS256', SECRET)));
      expect(nobody).toMatchObject({ status: 401, message: expect.stringContaining('claims.sub does not say whose') });
    },
  );

  it('is not looked for in the query, nor in a subprotocol outside of an upgrade', async () => {
    const good = token({}, 'HS256', SECRET);
    expect((await app.get(`${path}?token=${good}&access_token=${good}`)).status).toBe(401);
    const offered = `bearer.${Buffer.from(good).toString('base64url')}`;
    expect((await app.get(path, undefined, { 'sec-websocket-protocol': offered })).status).toBe(401);
  });

  it('leaves a line in the audit where it is refused', async () => {
    app.lines.length = 0;
    await app.get(path, token({ scope: 'pty:observe' }, 'HS256', SECRET), {
      traceparent: '00-1234567890abcdef1234567890abcdef-aabbccddeeff0011-01',
    });
    await app.get(path);
    expect(app.lines).toMatchObject([
      {
        event: 'screen_read',
        outcome: 'denied',
        principal: 'alice',
        address: '127.0.0.1',
        instance_id: 'inst-a',
        session_id: 's1',
        trace_id: '1234567890abcdef1234567890abcdef',
      },
      { event: 'screen_read', outcome: 'denied', principal: null },
    ]);
  });
});

describe('a token of AUTH_JWT_PUBLIC_KEY', () => {
  it.each(PUBLIC_KEY_ALGORITHMS)('is taken with %s, and with no secret made of the key', async (alg) => {
    const { publicKey, privateKey } = pairOf(alg);
    await using({ AUTH_JWT_SECRET: '', AUTH_JWT_PUBLIC_KEY: pem(publicKey) }, async ({ get }) => {
      expect((await get(path, token({}, alg, privateKey))).status).toBe(200);
      expect((await get(path, token({}, 'HS256', pem(publicKey)))).status).toBe(401);
      expect(await get(path, token({}, 'none', '')).then((r) => r.status)).toBe(401);
    });
  });

  it('is refused with an algorithm of another kind of key', async () => {
    await using({ AUTH_JWT_SECRET: '', AUTH_JWT_PUBLIC_KEY: pem(p256.publicKey) }, async ({ get }) => {
      for (const alg of ['RS256', 'ES384', 'EdDSA']) expect((await get(path, token({}, alg, pairOf(alg).privateKey))).status).toBe(401);
    });
  });

  it('works beside AUTH_JWT_SECRET, each for its own algorithms', async () => {
    await using({ AUTH_JWT_PUBLIC_KEY: pem(rsa.publicKey).replaceAll('\n', '\\n') }, async ({ get }) => {
      expect((await get(path, token({}, 'PS256', rsa.privateKey))).status).toBe(200);
      expect((await get(path, token({}, 'HS256', SECRET))).status).toBe(200);
      expect((await get(path, token({}, 'HS256', pem(rsa.publicKey)))).status).toBe(401);
    });
  });

  it.each([
    ['no PEM', 'key'],
    ['a private key', rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
    ['a key of a kind that signs no token', pem(generateKeyPairSync('x25519').publicKey)],
    ['a curve that no algorithm has', pem(createPublicKey(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey))],
  ])('is not waited for if the variable holds %s', async (_what, value) => {
    await expect(smallApp({ AUTH_JWT_PUBLIC_KEY: value })).rejects.toThrow(ConfigError);
    await expect(smallApp({ AUTH_JWT_PUBLIC_KEY: value })).rejects.toThrow(
      /^AUTH_JWT_PUBLIC_KEY is not usable \([^\n]*\); expected the PEM of/,
    );
  });
});

describe('AUTH_JWT_ISSUER and AUTH_JWT_AUDIENCE', () => {
  it('are checked when they are set', async () => {
    await using({ AUTH_JWT_ISSUER: 'https://id.example', AUTH_JWT_AUDIENCE: 'pty' }, async ({ get }) => {
      const status = async (claims: Record<string, unknown>) => (await get(path, token(claims, 'HS256', SECRET))).status;
      const good = { iss: 'https://id.example', aud: 'pty' };
      expect(await status(good)).toBe(200);
      expect(await status({ ...good, aud: ['other', 'pty'] })).toBe(200);
      for (const bad of [{ iss: 'https://else.example' }, { iss: undefined }, { aud: 'other' }, { aud: undefined }])
        expect(await status({ ...good, ...bad })).toBe(401);
    });
  });
});

describe('AUTH_JWKS_URL', () => {
  const jwk = (key: KeyObject, more: object) => ({ ...key.export({ format: 'jwk' }), ...more });
  let keys: object[] = [];
  let fetches = 0;
  let status = 200;
  const provider = createServer((_request, response) => {
    fetches++;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ keys }));
  });
  let url = '';
  beforeAll(async () => {
    await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/keys`;
  });
  afterAll(() => void provider.close());

  it('gives keys by kid, of every kind but secret ones, and is fetched once', async () => {
    fetches = 0;
    keys = [
      jwk(rsa.publicKey, { kid: 'r', use: 'sig' }),
      jwk(p256.publicKey, { kid: 'e', alg: 'ES256' }),
      jwk(ed25519.publicKey, { kid: 'd' }),
      { kty: 'oct', kid: 'o', k: Buffer.from(SECRET).toString('base64url') },
      { kty: 'strange', kid: 's' },
      jwk(rsa.publicKey, { kid: 'enc', use: 'enc' }),
      jwk(rsa.publicKey, { kid: 'r512', alg: 'RS512' }),
    ];
    await using({ AUTH_JWT_SECRET: '', AUTH_JWKS_URL: url }, async ({ get }) => {
      const ask = async (alg: string, key: KeyObject | string, kid?: string) => (await get(path, token({}, alg, key, { kid }))).status;
      expect(await ask('RS256', rsa.privateKey, 'r')).toBe(200);
      expect(await ask('PS384', rsa.privateKey, 'r')).toBe(200);
      expect(await ask('ES256', p256.privateKey, 'e')).toBe(200);
      expect(await ask('EdDSA', ed25519.privateKey, 'd')).toBe(200);
      expect(await ask('RS512', rsa.privateKey, 'r512')).toBe(200);
      expect(await ask('RS256', rsa.privateKey, 'r512')).toBe(401);
      expect(await ask('RS256', rsa.privateKey, 'enc')).toBe(401);
      expect(await ask('HS256', SECRET, 'o')).toBe(401);
      expect(await ask('RS256', rsa.privateKey)).toBe(401);
      expect(fetches).toBe(1);
    });
  });

  it('is not fetched again within a minute, however many unknown kids come', async () => {
    fetches = 0;
    await using({ AUTH_JWT_SECRET: '', AUTH_JWKS_URL: url }, async ({ get }) => {
      await Promise.all(Array.from({ length: 20 }, () => get(path, token({}, 'RS256', rsa.privateKey, { kid: randomUUID() }))));
      expect((await get(path, token({}, 'RS256', rsa.privateKey, { kid: 'r' }))).status).toBe(200);
      expect(fetches).toBe(1);
    });
  });

  it('makes a 503 of a set that cannot be fetched, since the token may well be good', async () => {
    status = 500;
    await using({ AUTH_JWT_SECRET: '', AUTH_JWKS_URL: url }, async ({ get }) => {
      const response = await get(path, token({}, 'RS256', rsa.privateKey, { kid: 'r' }));
      expect(response.headers.get('retry-after')).toBe('5');
      expect(await refusal(response)).toMatchObject({
        status: 503,
        code: 'INTERNAL',
        message: 'the keys that tokens are checked with cannot be fetched now',
      });
    });
    status = 200;
  });
});

describe('the Origin of a browser', () => {
  const from = async (app: SmallApp, origin?: string) =>
    (await app.get('/origin', undefined, origin === undefined ? {} : { origin })).status;

  it('is the gateway itself by default, and need not be there', async () => {
    await using({}, async (app) => {
      expect(await from(app)).toBe(200);
      expect(await from(app, app.base)).toBe(200);
      for (const foreign of ['https://elsewhere.example', 'null', `${app.base}.example`, app.base.replace('http', 'https')])
        expect(await from(app, foreign)).toBe(403);
    });
  });

  it('may be that of PUBLIC_URL', async () => {
    await using({ PUBLIC_URL: 'https://gateway.example/terminals' }, async (app) => {
      expect(await from(app, 'https://gateway.example')).toBe(200);
    });
  });

  it.each([
    ['Gateway.Example:80', 'http://gateway.example', 200],
    ['gateway.example:8080', 'http://gateway.example:8080', 200],
    ['gateway.example:8080', 'http://gateway.example', 403],
    ['gateway.example', 'https://gateway.example', 403],
    ['gateway.example', 'http://gateway.example.', 403],
    ['gateway.example', 'http://gateway.example/', 403],
    ['gateway.example', 'http://gateway.example@elsewhere.example', 403],
    ['gateway.example', 'http://gateway.example, http://elsewhere.example', 403],
    ['gateway.example', 'null', 403],
    ['null', 'null', 403],
    ['gateway.example', '', 403],
    ['[::1]:8080', 'http://[::1]:8080', 200],
    ['[0:0:0:0:0:0:0:1]:8080', 'http://[::1]:8080', 200],
    ['[::1]:8080', 'http://[::1]:8081', 403],
    ['xn--mnchen-3ya.example', 'http://xn--mnchen-3ya.example', 200],
    ['xn--mnchen-3ya.example', 'http://munchen.example', 403],
  ])('to the host %j from %j is answered %i', async (host, origin, status) => {
    const app = await smallApp();
    const { statusCode } = await app.app.inject({ url: '/origin', headers: { host, origin } });
    await app.close();
    expect(statusCode).toBe(status);
  });

  it('may be allowed in the words of people, and comes in those of browsers', async () => {
    await using({ ALLOWED_ORIGINS: 'HTTPS://München.Example:443' }, async (app) => {
      expect(await from(app, 'https://xn--mnchen-3ya.example')).toBe(200);
      for (const other of ['https://xn--mnchen-3ya.example:8443', 'http://xn--mnchen-3ya.example', 'null'])
        expect(await from(app, other)).toBe(403);
    });
  });

  it('is one of ALLOWED_ORIGINS where they are set', async () => {
    await using({ ALLOWED_ORIGINS: 'https://a.example, https://b.example:8443' }, async (app) => {
      expect(await from(app, 'https://b.example:8443')).toBe(200);
      expect(await from(app, 'https://b.example')).toBe(403);
      expect(await from(app, app.base)).toBe(403);
    });
  });
});
