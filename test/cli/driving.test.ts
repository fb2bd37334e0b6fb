// A session driven from a script: begun, typed into, waited for, looked at, shared and ended, against the gateway itself.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClientOptions, connect, type TerminalClient } from '../../src/client/node.js';
import { blocksOf, shell } from '../support/document.js';
import { type RunningGateway, startGateway } from '../support/running-gateway.js';
import { command } from './person.js';

const root = path.resolve(import.meta.dirname, '../..');
let gateway: RunningGateway;
let env: Record<string, string>;

beforeAll(async () => {
  gateway = await startGateway();
  env = { PTY_GATEWAY_URL: gateway.invitation, HOME: gateway.folder };
}, 60_000);
afterAll(() => gateway.stop());

interface Ran {
  readonly out: string;
  readonly err: string;
  readonly code: number;
}

async function run(...args: string[]): Promise<Ran> {
  const ran = promisify(execFile)(process.execPath, [command, ...args], { env: { PATH: process.env.PATH, ...env } });
  const { stdout, stderr, code = 0 } = await ran.catch((error) => error);
  return { out: String(stdout).trimEnd(), err: String(stderr).trimEnd(), code: Number(code) };
}

const begin = async (...args: string[]): Promise<string> => (await run('new', 'shell', ...args)).out;
const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).out);

/** Somebody who has control of it, by the name of bob. */
async function bobAt(id: string, options: Partial<ClientOptions> = {}): Promise<TerminalClient> {
  const url = `ws://127.0.0.1:${gateway.port}/agents/shell/sessions/${id}/attach`;
  const token = new URLSearchParams(new URL(gateway.invitation).hash.slice(1)).get('token') ?? '';
  const bob = connect({ url, token, role: 'controller', label: 'bob', ...options });
  await new Promise<void>((resolve) => bob.on('state', ({ name }) => name === 'live' && resolve()));
  return bob;
}

/** Resolves when this client has said no to the next who asks it for control. */
function declinesNext(client: TerminalClient): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = client.on('presence', ({ asking: [who] }) => {
      if (who === undefined) return;
      stop();
      client.act('decline', who).then(resolve, reject);
    });
  });
}

describe('a script', { timeout: 180_000 }, () => {
  it('drives a build as docs/cli.md says', async () => {
    const document = readFileSync(path.join(root, 'docs/cli.md'), 'utf8');
    const { out, code } = await shell(blocksOf(document, 'sh').join('\n'), root, env);
    expect(out).toMatch(/^\d+\texit 0\texit 0$/m);
    expect(out).toMatch(/^test: ok$/m);
    expect(out).toMatch(/^[0-9a-f-]{36} ends$/m);
    expect(readFileSync(path.join(gateway.folder, 'build.svg'), 'utf8')).toMatch(/^<svg/);
    expect(code).toBe(0);
  });

  it('names a session by its label, its id, the beginning of it, or its address', async () => {
    const { session_id: id, pty_ws_url: url, cols, rows } = await json('new', 'shell', '--label', 'by name', '--size', '90x20');
    expect([cols, rows]).toEqual([90, 20]);
    for (const name of ['by name', id, id.slice(0, -4), url]) expect(await json('screen', name)).toMatchObject({ cols: 90, rows: 20 });
    expect(await run('screen', 'nobody')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^pty-gateway: there is no session "nobody"/),
    });
    const other = await begin('--label', 'by name');
    const { err } = await run('screen', 'by name');
    expect(err).toMatch(
      new RegExp(`^pty-gateway: 2 sessions are meant by "by name"; name one by its id:\\n  ${other} \\(shell\\)\\n  ${id} `),
    );
    expect(await run('end', other)).toMatchObject({ code: 0, out: `${other} ends` });
    expect((await run('wait-for', other, 'nothing')).code).toBe(1);
    expect(await json('screen', 'by name')).toMatchObject({ cols: 90 });
  });

  it('types texts, files and keys as they are', async () => {
    const id = await begin();
    await run('send', id, 'echo ready; cat; echo "in order"', '-k', 'Enter');
    await run('wait-for', id, '^ready$', '--timeout', '30s');
    await run('send', id, '-k', 'a', '-k', 'Enter', '-k', 'ctrl-d');
    expect((await run('wait-for', id, '^in order$', '--timeout', '30s')).code).toBe(0);
    const { code } = await shell(`echo 'echo from a "file"' | ${process.execPath} ${command} send ${id} --file -`, root, env);
    expect(code).toBe(0);
    expect((await run('wait-for', id, '^from a file$', '--timeout', '30s')).code).toBe(0);
    await run('send', id, "printf '\\033[?1hset\\n'; cat -v", '-k', 'Enter');
    await run('wait-for', id, '^set$', '--screen', '--timeout', '30s');
    await run('send', id, '-k', 'Up', '-k', 'Enter');
    expect((await run('wait-for', id, '^\\^\\[OA$', '--screen', '--timeout', '30s')).code).toBe(0);
    const wrong = await run('send', id, '-k', 'ctrl-1');
    expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining('expected Enter, Tab') });
    expect(wrong.err.split('\n').length).toBeLessThanOrEqual(3);
    expect(await run('send', id)).toMatchObject({ code: 1, err: expect.stringContaining('there is nothing to type') });
  });

  it('types nothing while somebody else has control, says who, and may wait for it', async () => {
    const id = await begin();
    const bob = await bobAt(id);
    expect(await run('send', id, 'x')).toMatchObject({
      code: 75,
      out: '',
      err: 'pty-gateway: bob has control; --wait 30s waits until it is given back',
    });
    const { code, err } = await run('send', id, 'x', '--wait', '1s', '--json');
    expect([code, JSON.parse(err).error.code]).toEqual([124, 'TIMEOUT']);
    const sent = run('send', id, 'echo at last', '-k', 'Enter', '--wait', '60s');
    await new Promise<void>((resolve) => bob.on('members', ({ observers }) => observers.length > 0 && resolve()));
    await bob.requestRole('observer');
    expect((await sent).code).toBe(0);
    expect((await run('wait-for', id, '^at last$', '--timeout', '30s')).code).toBe(0);
    bob.close();
  });

  it('asks for control while it waits, and has it when that is granted', async () => {
    const id = await begin();
    const bob = await bobAt(id, { presence: true });
    bob.on('presence', ({ asking: [who] }) => who !== undefined && void bob.act('grant', who));
    expect(await run('send', id, 'echo granted', '-k', 'Enter', '--wait', '60s')).toMatchObject({ code: 0 });
    expect((await run('wait-for', id, '^granted$', '--timeout', '30s')).code).toBe(0);
    bob.close();
  });

  it('waits on when it is declined, has control when nobody else has it, and says at the end of its time who declined', async () => {
    const id = await begin();
    const bob = await bobAt(id, { presence: true });
    const declined = declinesNext(bob);
    const sent = run('send', id, 'echo after a no', '-k', 'Enter', '--wait', '60s');
    await declined;
    await bob.requestRole('observer');
    expect((await sent).code).toBe(0);
    expect((await run('wait-for', id, '^after a no$', '--timeout', '30s')).code).toBe(0);
    await bob.requestRole('controller');
    const late = declinesNext(bob);
    expect(await run('send', id, 'x', '--wait', '5s')).toMatchObject({
      code: 124,
      err: 'pty-gateway: bob declined, and had control for 5 s',
    });
    await late;
    bob.close();
  });

  it('that pipes into attach asks for control, says so, and types when it is granted, or free after a no', async () => {
    const id = await begin();
    const bob = await bobAt(id, { presence: true });
    const granted = new Promise<void>((resolve, reject) => {
      const stop = bob.on('presence', ({ asking: [who] }) => {
        if (who === undefined) return;
        stop();
        bob.act('grant', who).then(resolve, reject);
      });
    });
    const first = shell(`echo 'echo from a pi""pe' | ${process.execPath} ${command} attach ${id} 2>&1`, root, env);
    await granted;
    const { out, code } = await first;
    expect(out).toContain('bob is asked for control; what is piped in is typed when you have it');
    expect(out).toMatch(/^from a pipe\r?$/m);
    expect(code).toBe(0);
    await bob.requestRole('controller');
    const declined = declinesNext(bob);
    const second = shell(`echo 'echo ag""ain' | ${process.execPath} ${command} attach ${id} 2>&1`, root, env);
    await declined;
    await bob.requestRole('observer');
    const again = await second;
    expect(again.out).toContain('bob declined; what is piped in is typed when nobody has control');
    expect(again.out).toMatch(/^again\r?$/m);
    bob.close();
  });

  it('waits for what is printed after a frame, for what is shown, until the session ends or the time is over', async () => {
    const id = await begin();
    const first = await json('send', id, 'echo again', '-k', 'Enter');
    expect(first.session_id).toBe(id);
    const found = await json('wait-for', id, '^ag(.*)n$');
    expect(found).toEqual({ match: 'again', line: 'again', sequence: expect.any(Number) });
    expect(found.sequence).toBeGreaterThan(first.sequence);
    expect(await run('wait-for', id, '^again$', '--since', String(found.sequence), '--timeout', '1s', '--json')).toEqual({
      code: 124,
      out: '',
      err: '{"error":{"code":"TIMEOUT","message":"it was not there within 1 s"}}',
    });
    expect((await run('wait-for', id, '^a.*n$', '--screen')).out).toMatch(/^\d+\tagain\tagain$/);
    for (const where of ['--output', '--screen']) expect((await run('wait-for', id, '^\\$ $', where)).out).toMatch(/^\d+\t\$ \t\$$/);
    await run('send', id, 'exit', '-k', 'Enter');
    expect(await run('wait-for', id, 'never')).toMatchObject({ code: 1, err: 'pty-gateway: the session has ended without it' });
    expect((await run('wait-for', id, '^again$')).code).toBe(0);
    expect((await run('wait-for', id, '(')).code).toBe(255);
  });

  it('that attaches to what has ended is shown its last screen, and gets its exit code', async () => {
    const id = await begin();
    await run('send', id, 'echo "the la"st; exit 3', '-k', 'Enter');
    await run('wait-for', id, '^never$');
    for (const role of ['controller', 'observer']) {
      const { out, err, code } = await run('attach', id, '--role', role);
      expect(out.split('\n')).toContain('the last');
      expect([err, code]).toEqual(['[pty-gateway] the session has ended: exit code 3', 3]);
    }
    expect((await run('attach', id, '--replay-from', '0')).out.match(/^the last$/gm)).toHaveLength(1);
  });

  it('leaves control to others when it only waits, also as the first who ever attaches', async () => {
    const id = await begin();
    const waiting = run('wait-for', id, '^now$');
    const bob = await bobAt(id);
    const hasControl = () => bob.role === 'controller' || bob.requestRole('controller').then(({ role }) => role === 'controller');
    while (!(await hasControl())) await new Promise<void>((resolve) => bob.on('members', () => resolve()));
    bob.input('echo now\r');
    expect((await waiting).code).toBe(0);
    bob.close();
  });

  it('makes, lists and revokes links', async () => {
    const id = await begin();
    expect(await run('share', id, '--ttl', '10m', '--label', 'for eve')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^http\S+#token=/),
    });
    const [{ share_id }] = await json('share', id, '--list');
    expect((await run('share', id, '--list')).out).toMatch(new RegExp(`^LINK .*\\n${share_id} .* for eve$`));
    expect((await run('share', id, '--revoke', share_id)).out).toBe(`${share_id} is revoked`);
    expect((await run('share', id, '--list')).out).toBe('There are no links to this session.');
    for (const ttl of ['59s', '8d'])
      expect((await run('share', id, '--ttl', ttl)).err).toContain('a link is good for a minute to a week, as 1m or 7d');
  });

  it('is told which agents there are when it begins a session of another', async () => {
    expect(await run('new', 'nothing')).toMatchObject({ code: 255, err: 'pty-gateway: there is no agent "nothing"; there are: shell' });
  });

  it('is told in one shape of JSON what went wrong', async () => {
    const errors = [
      [['send', '--json'], 'USAGE', 1],
      [['screen', 'nobody', '--json'], 'TASK_NOT_FOUND', 1],
      [['new', 'nothing', '--json'], 'TASK_NOT_FOUND', 255],
      [['new', 'shell', '--json', '--', 'ls'], 'PERMISSION_DENIED', 255],
      [['sessions', '--json', '--token', 'x'], 'UNAUTHENTICATED', 1],
      [['end', 'http://127.0.0.1:1/agents/a/sessions/b', '--json', '--token', 'x'], 'UNREACHABLE', 1],
    ] as const;
    for (const [args, code, exit] of errors) {
      const ran = await run(...args);
      expect(JSON.parse(ran.err)).toEqual({ error: { code, message: expect.any(String) } });
      expect([ran.out, ran.code]).toEqual(['', exit]);
    }
  });
});
