// `pty-gateway sessions` against a gateway's HTTP, whose answers the test gives.
import { execFile } from 'node:child_process';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { command } from './person.js';

type Answer = (request: IncomingMessage) => { status?: number; body: unknown };

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function gateway(answer: Answer): Promise<string> {
  const server = createServer((request, response) => {
    const { status = 200, body } = answer(request);
    response.writeHead(status, { 'content-type': 'application/json' }).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An address at which nobody listens any more. */
async function nobody(): Promise<string> {
  const url = await gateway(() => ({ body: {} }));
  await new Promise((resolve) => servers.pop()?.close(resolve));
  return url;
}

/** An address at which every connection is broken off at once. */
async function hangsUp(): Promise<string> {
  const server = createServer();
  server.on('connection', (socket) => socket.destroy());
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function run(args: string[], env: Record<string, string> = { PTY_GATEWAY_TOKEN: 'the-token' }) {
  const options = { env: { PATH: process.env.PATH, ...env } };
  const { stdout, stderr, code = 0 } = await promisify(execFile)(process.execPath, [command, 'sessions', ...args], options).catch((e) => e);
  return { stdout: String(stdout), stderr: String(stderr), code: Number(code) };
}

const session = (instance: string, id: string, more: object = {}) => ({
  session_id: id,
  instance_id: instance,
  state: 'running',
  created_at: new Date(Date.now() - 3 * 3_600_000).toISOString(),
  cols: 120,
  rows: 30,
  controllers: [{ client_id: 'c-1', label: 'alice' }],
  observers: [{ client_id: 'c-2345' }],
  pty_ws_url: `ws://gw/agents/${instance}/sessions/${id}/attach`,
  ...more,
});

const card = (id: string) => ({ supportedInterfaces: [{ url: `http://gw/prefix/agents/${encodeURIComponent(id)}/a2a/v1` }] });

/** Two agents; the first has two pages. */
const twoAgents: Answer = ({ url = '', headers }) => {
  if (headers.authorization !== 'Bearer the-token')
    return { status: 401, body: { error: { code: 'UNAUTHENTICATED', message: 'no such key' } } };
  if (url === '/agents') return { body: { agents: [card('a'), card('b c')] } };
  if (url.startsWith('/agents/a/sessions') && url.includes('page_token=next'))
    return { body: { sessions: [session('a', 's-2')], next_page_token: null } };
  if (url.startsWith('/agents/a/sessions'))
    return { body: { sessions: [session('a', 's-1', { label: 'deploy' })], next_page_token: 'next' } };
  const closed = { state: 'closed', exit_code: 2, controllers: [], observers: [], title: 'evil\x1b[2Jtitle' };
  if (url.startsWith('/agents/b%20c/sessions')) return { body: { sessions: [session('b c', 's-3', closed)] } };
  return { status: 404, body: { error: { code: 'TASK_NOT_FOUND', message: 'there is no such agent' } } };
};

describe('sessions', () => {
  it('lists those of all agents, page after page, with who is there', async () => {
    const { stdout, code } = await run(['--url', await gateway(twoAgents)]);
    const lines = stdout.trimEnd().split('\n');
    expect(code).toBe(0);
    expect(lines[0]).toMatch(/^SESSION +AGENT +STATE +SIZE +AGE +HERE +LABEL$/);
    expect(lines[1]).toMatch(/^s-1 +a +running +120×30 +3h +\*alice 2345 +deploy$/);
    expect(lines[2]).toContain('s-2');
    expect(lines[3]).toMatch(/^s-3 +b c +exit 2 +120×30 +3h +- +evil \[2Jtitle$/);
  });

  it('marks those that were given secrets', async () => {
    const url = await gateway(() => ({ body: { sessions: [session('a', 's-1', { sensitive: true })] } }));
    expect((await run(['--url', url, '--instance', 'a'])).stdout).toMatch(/^s-1 +a +running, sensitive +120×30/m);
  });

  it('gives the whole of it as JSON', async () => {
    const { stdout } = await run(['--url', await gateway(twoAgents), '--json', '--instance', 'a']);
    expect(JSON.parse(stdout)).toMatchObject([{ session_id: 's-1' }, { session_id: 's-2' }]);
  });

  it('asks for the state that is wanted: for those that run, unless told otherwise', async () => {
    let asked: string | undefined;
    const url = await gateway((request) => {
      asked = request.url;
      return { body: { sessions: [] } };
    });
    const ask = async (...args: string[]) => [(await run(['--url', url, '--instance', 'a', ...args])).stdout, asked];
    const none = 'There are no sessions that this token may see.\n';
    expect(await ask('--state', 'closed')).toEqual([none, '/agents/a/sessions?state=closed']);
    expect(await ask('--all')).toEqual([none, '/agents/a/sessions']);
    expect(await ask()).toEqual([
      'No session runs that this token may see; --all lists those that have ended too.\n',
      '/agents/a/sessions?state=running',
    ]);
    expect((await run(['--all', '--state', 'closed'])).stderr).toContain("cannot be used with option '--all'");
  });

  it.each([
    ['PTY_GATEWAY_URL', (port: string) => ({ PTY_GATEWAY_URL: `http://127.0.0.1:${port}`, PUBLIC_URL: 'http://127.0.0.1:1', PORT: '1' })],
    ['PUBLIC_URL', (port: string) => ({ PUBLIC_URL: `http://127.0.0.1:${port}`, PORT: '1' })],
    ['HOST and PORT', (port: string) => ({ HOST: '127.0.0.1', PORT: port })],
  ])('finds the gateway where %s of its environment says it is', async (_name, env) => {
    const { port } = new URL(await gateway(twoAgents));
    const { stdout, stderr, code } = await run([], { PTY_GATEWAY_TOKEN: 'the-token', ...env(port) });
    expect(stderr).toBe('');
    expect(stdout).toContain('s-1');
    expect(code).toBe(0);
  });

  it('names a PORT that is none, and an option that it does not know', async () => {
    expect((await run([], { PTY_GATEWAY_TOKEN: 't', PORT: 'http' })).stderr).toBe(
      'pty-gateway: PORT is "http"; expected 1 to 65535, or the gateway\'s address with --url\n',
    );
    const { stderr, code } = await run(['--instnace', 'a']);
    expect(stderr).toMatch(/unknown option '--instnace'\n\(Did you mean --instance\?\)/);
    expect(code).toBe(1);
  });

  it('takes the URL that a gateway prints at its start, token and all', async () => {
    const printed = `${await gateway(twoAgents)}/#token=the-token&open=shell`;
    expect((await run(['--url', printed], {})).code).toBe(0);
    expect((await run(['--url', new URL(printed).origin, '--token', printed], {})).code).toBe(0);
  });

  it('says how to get a token without one, and when it is not taken', async () => {
    const url = await gateway(twoAgents);
    expect((await run(['--url', url], {})).stderr).toMatch(
      /^pty-gateway: there is no token; .*\n {2}export PTY_GATEWAY_TOKEN=\$\(pty-gateway token --scope pty:control --sub \S+ --ttl 8h\)\n/,
    );
    const { stderr, code } = await run(['--url', url, '--token', 'other']);
    expect(stderr).toMatch(/^pty-gateway: the token is not taken: no such key; where the gateway's AUTH_JWT_SECRET is set/);
    expect(code).toBe(1);
  });

  it('says what to do about everything else', async () => {
    expect((await run(['--url', await gateway(twoAgents), '--instance', 'x'])).stderr).toBe(
      'pty-gateway: there is no agent "x"; there are: a, b c\n',
    );
    expect((await run(['--url', await gateway(() => ({ body: '<html>' }))])).stderr).toMatch(
      /does not answer as a gateway does; is the address right/,
    );
    expect((await run(['--url', await nobody()])).stderr).toMatch(
      /127\.0\.0\.1:\d+ cannot be reached \(ECONNREFUSED\); give the gateway's address/,
    );
    expect((await run(['--url', 'gateway:80'])).stderr).toMatch(/"gateway:80" is no address; expected that of a gateway/);
  });

  it('says so, too, where every connection is broken off', { timeout: 90_000 }, async () => {
    expect(await run(['--url', await hangsUp()])).toMatchObject({ code: 1, stderr: expect.stringMatching(/cannot be reached \(/) });
  });
});
