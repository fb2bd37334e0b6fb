// What a gateway reads again on SIGHUP, as a process of its own.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SignJWT } from 'jose';
import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../support/free-port.js';
import { scrape } from '../support/samples.js';
import { type Run, run } from './process.js';

const dir = mkdtempSync(path.join(tmpdir(), 'reload-'));
const file = (name: string) => path.join(dir, name);
const pem = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();
const pair = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' });

let gateway: Run;
afterEach(async () => {
  gateway.child.kill('SIGTERM');
  await gateway.exit;
  rmSync(gateway.dataDir, { recursive: true, force: true });
  rmSync(dir, { recursive: true, force: true });
});

describe('SIGHUP', () => {
  it('has each file read again; what cannot be used stays as it was, and the log says which and why', async () => {
    const [first, second] = [pair(), pair()];
    writeFileSync(file('key.pem'), pem(first.publicKey));
    writeFileSync(file('revoked'), 'sub:mallory\n');
    writeFileSync(file('agents.json'), JSON.stringify({ agents: { one: { name: 'One', command: ['/bin/cat'] } } }));
    const port = await freePort();
    gateway = run(['serve'], {
      PORT: `${port}`,
      AUTH_JWT_PUBLIC_KEY: file('key.pem'),
      REVOCATION_FILE: file('revoked'),
      AGENTS_FILE: file('agents.json'),
    });
    const answers = async (key: KeyObject, sub: string) => {
      const token = await new SignJWT({ scope: 'pty:observe' })
        .setProtectedHeader({ alg: 'ES256' })
        .setSubject(sub)
        .setExpirationTime('1h')
        .sign(key);
      return (await fetch(`http://127.0.0.1:${port}/agents/one/sessions`, { headers: { authorization: `Bearer ${token}` } })).status;
    };
    await gateway.prints(/Server listening/);
    expect([await answers(first.privateKey, 'alice'), await answers(second.privateKey, 'alice')]).toEqual([200, 401]);

    writeFileSync(file('key.pem'), pem(second.publicKey));
    writeFileSync(file('revoked'), 'sub:mallory\nsub:eve\n');
    gateway.child.kill('SIGHUP');
    await gateway.prints(/AUTH_JWT_PUBLIC_KEY was read again: ES256/);
    await gateway.prints(/REVOCATION_FILE was read again: 2 revoked/);
    await gateway.prints(/AGENTS_FILE was read again: one/);
    expect([await answers(first.privateKey, 'alice'), await answers(second.privateKey, 'alice')]).toEqual([401, 200]);

    writeFileSync(file('key.pem'), 'no key');
    writeFileSync(file('revoked'), 'mallory\n');
    writeFileSync(file('agents.json'), '{');
    gateway.child.kill('SIGHUP');
    await gateway.prints(/AUTH_JWT_PUBLIC_KEY stays as it was: AUTH_JWT_PUBLIC_KEY is not usable/);
    await gateway.prints(/REVOCATION_FILE stays as it was: [^"]*revoked: line 1 is none of jti/);
    await gateway.prints(/AGENTS_FILE stays as it was/);
    const refused = async () =>
      [...(await scrape(port))].flatMap(([name, value]) => (/setting_refused/.test(name) && value === 1 ? [name] : []));
    expect(await refused()).toEqual(
      ['REVOCATION_FILE', 'AUTH_JWT_PUBLIC_KEY', 'AGENTS_FILE'].map((one) => `pty_gateway_setting_refused{variable="${one}"}`),
    );
    expect([
      await answers(second.privateKey, 'alice'),
      await answers(second.privateKey, 'mallory'),
      await answers(second.privateKey, 'eve'),
    ]).toEqual([200, 401, 401]);
  });
});
