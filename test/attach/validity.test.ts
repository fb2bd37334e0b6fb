// What becomes of a connection whose token ends, or is revoked, while it is open.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AttachServer, type Client, startAttachServer } from '../support/attach-server.js';

let folder: string;
let file: string;
let server: AttachServer;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'revoked-'));
  file = join(folder, 'revoked.txt');
  server = await startAttachServer({ REVOCATION_FILE: file, AUTH_CLOCK_SKEW_SECONDS: '0' });
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
const attach = async (claims: object): Promise<Client> => {
  const client = await server.greet(server.newSession(), { token: server.token('pty:control', claims) });
  await client.attach();
  return client;
};
const expectRevoked = async (client: Client, detail: string) => {
  const goodbye = await client.until('binding_goodbye');
  expect(goodbye.payload).toEqual({ reason: 'principal_revoked', detail });
  expect(await client.closeCode()).toBe(4401);
};

describe('a connection', () => {
  it('is ended when its token ends, and not before; others stay', async () => {
    const other = await attach({ sub: 'bob' });
    const end = inSeconds(2);
    await expectRevoked(await attach({ exp: end }), 'the token has expired');
    expect(Date.now()).toBeGreaterThanOrEqual(end * 1000);
    expect(other.closed).toBeUndefined();
    expect(server.audit).toContainEqual(expect.objectContaining({ event: 'attach', outcome: 'denied', detail: 'the token has expired' }));
  });

  it.each([
    ['by its id', 'jti:one'],
    ['as all of its principal', 'sub:alice'],
  ])('is ended when its token is revoked %s, and cannot come back', async (_, word) => {
    const [mine, others] = [await attach({ jti: 'one' }), await attach({ jti: 'two', sub: 'bob' })];
    await writeFile(file, `# who has left\n\n${word}\n`);
    await expectRevoked(mine, 'the token was revoked');
    expect(others.closed).toBeUndefined();
    await expect(server.greet(server.newSession(), { token: server.token('pty:control', { jti: 'one' }) })).rejects.toMatchObject({
      status: 401,
      body: { error: { code: 'UNAUTHENTICATED', message: 'the token was revoked' } },
    });
  });

  it('stays, and others are let in, while the file cannot be read; what was revoked before stays revoked', async () => {
    await writeFile(file, 'sub:mallory\n');
    const mallory = server.token('pty:control', { sub: 'mallory' });
    await expect(server.greet(server.newSession(), { token: mallory })).rejects.toMatchObject({ status: 401 });
    await writeFile(file, 'sub:mallory\nnonsense\n');
    const client = await attach({});
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect(client.closed).toBeUndefined();
    await expect(server.greet(server.newSession(), { token: mallory })).rejects.toMatchObject({ status: 401 });
  });
});

describe('with AUTH_EXPIRY_GRACE_SECONDS', () => {
  it('a connection stays so much longer than its token', async () => {
    const graceful = await startAttachServer({ AUTH_EXPIRY_GRACE_SECONDS: '1', AUTH_CLOCK_SKEW_SECONDS: '0' });
    const end = inSeconds(1);
    const client = await graceful.greet(graceful.newSession(), { token: graceful.token('pty:control', { exp: end }) });
    await expectRevoked(client, 'the token has expired');
    expect(Date.now()).toBeGreaterThanOrEqual((end + 1) * 1000);
    await graceful.close();
  });
});
