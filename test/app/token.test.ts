import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readClaims } from '../../src/access/token.js';
import type { Fault } from '../../src/errors.js';
import { run } from './process.js';

const AUTH_JWT_SECRET = 'a secret of the tests, long enough for HS256';
const mint = async (args: string[], env: NodeJS.ProcessEnv = { AUTH_JWT_SECRET }) => {
  const minted = run(['token', ...args], env);
  const { code } = await minted.exit;
  return { code, out: minted.out, err: minted.err };
};
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

describe('the token command', () => {
  it('mints what the contract says', async () => {
    const args = ['--scope', 'pty:control', '--sub', 'alice', '--ttl', '2h', '--instance', 'a', '--instance', 'b', '--session', 's'];
    const { code, out, err } = await mint(args, { AUTH_JWT_SECRET, AUTH_JWT_ISSUER: 'me', AUTH_JWT_AUDIENCE: 'pty' });
    expect([code, err]).toEqual([0, '']);
    const { iat, exp, ...claims } = claimsOf(out.trim());
    expect(exp - iat).toBe(7200);
    expect(claims).toEqual({
      jti: expect.any(String),
      sub: 'alice',
      scope: 'pty:control',
      instances: ['a', 'b'],
      sessions: ['s'],
      iss: 'me',
      aud: 'pty',
    });
  });

  it('needs the secret', async () => {
    expect(await mint(['--scope', 'pty:control', '--sub', 'alice'], {})).toEqual({
      code: 78,
      out: '',
      err: 'pty-gateway: neither AUTH_JWT_SECRET nor AUTH_JWT_SECRET_FILE is set; expected the secret that the gateway was started with\n',
    });
  });

  it.each([
    [['--sub', 'alice'], /required option '--scope <scope>' not specified/],
    [['--scope', 'pty:root', '--sub', 'alice'], /Allowed choices are pty:observe, pty:control, pty:admin/],
    [['--scope', 'pty:admin', '--sub', 'alice', '--ttl', '0s'], /expected a number and s, m, h or d, as 90s or 1h, up to 3650d/],
    [['--scope', 'pty:admin', '--sub', 'alice', '--ttl', 'long'], /expected a number and s, m, h or d/],
  ])('says what is wrong with %o', async (args, message) => {
    const { code, out, err } = await mint(args);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(message);
  });
});

describe('claims', () => {
  it('make a principal or an UNAUTHENTICATED, whatever they are', () => {
    fc.assert(
      fc.property(fc.anything(), (claims) => {
        try {
          expect(['pty:observe', 'pty:control', 'pty:admin', undefined]).toContain(readClaims(claims).scope);
        } catch (error) {
          expect((error as Fault).code).toBe('UNAUTHENTICATED');
        }
      }),
    );
  });

  it('give the highest of their scopes, and none to others', () => {
    const scope = (text?: string) => readClaims({ sub: 'a', scope: text }).scope;
    expect([scope('pty:observe pty:admin x'), scope('pty:administrator PTY:ADMIN'), scope(''), scope()]).toEqual([
      'pty:admin',
      undefined,
      undefined,
      undefined,
    ]);
  });
});
