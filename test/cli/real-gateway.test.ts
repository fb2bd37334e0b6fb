// The command line and the client against the gateway itself: two people at one shell, a network that fails, an agent with a message.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connect, type State, type TerminalClient } from '../../src/client/node.js';
import { cutProxy } from '../support/cut-proxy.js';
import { type RunningGateway, startGateway } from '../support/running-gateway.js';
import { Person, type PersonOptions } from './person.js';

let gateway: RunningGateway;
let token: string;
const people: Person[] = [];
const clients: TerminalClient[] = [];

beforeAll(async () => {
  gateway = await startGateway();
  token = new URLSearchParams(new URL(gateway.invitation).hash.slice(1)).get('token') ?? '';
});

afterEach(() => {
  for (const person of people.splice(0)) person.kill();
  for (const client of clients.splice(0)) client.close();
});

afterAll(() => gateway.stop());

/** Resolves with where to attach to it. */
async function newSession(): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const url = `http://127.0.0.1:${gateway.port}/agents/shell/sessions`;
  const response = await fetch(url, { method: 'POST', headers, body: '{}' });
  expect(response.status).toBe(201);
  return ((await response.json()) as { pty_ws_url: string }).pty_ws_url;
}

function person(args: readonly string[], options: PersonOptions = {}): Person {
  const made = new Person(['attach', ...args], { env: { PTY_GATEWAY_TOKEN: token }, ...options });
  people.push(made);
  return made;
}

describe('the command line and the gateway', () => {
  it('share a shell between one who types and one who watches, and give both its exit code', async () => {
    const url = await newSession();
    const alice = person([url]);
    await alice.sees('attached with control');
    alice.types('stty size; echo "$((6 * 7))"\r');
    await alice.sees(/^24 80\n42$/m);
    const bob = person([url, '--role', 'observer']);
    await bob.sees(/^24 80\n42$/m);
    await bob.sees('watching');
    alice.types('exit 5\r');
    expect(await Promise.all([alice.exit, bob.exit])).toEqual([5, 5]);
  });

  it('show programs that move down by a bare LF where they mean it', async () => {
    const url = await newSession();
    const alice = person([url], { cols: 80, rows: 24 });
    await alice.sees('attached with control');
    alice.types("stty -onlcr; printf '\\033[2J\\033[3;20Hone\\ntwo\\nthree'; sleep 0.2; stty onlcr; echo do''ne\r");
    await alice.sees('done');
    await alice.sees(/^ {19}one\n {22}two\n {25}three/m);
  });

  it('tell of a program that a signal ended, by name and by exit code', async () => {
    const alice = person([await newSession()]);
    await alice.sees('attached with control');
    alice.types('kill -9 $$\r');
    await alice.sees('killed by SIGKILL');
    expect(await alice.exit).toBe(128 + 9);
  });

  it('show who watches a true picture, in a smaller window, a larger one, and when either changes', async () => {
    const url = await newSession();
    const alice = person([url], { cols: 100, rows: 30 });
    await alice.sees('attached with control');
    const bob = person([url, '--role', 'observer'], { cols: 80, rows: 20 });
    await bob.sees('watching');
    alice.types('seq 1 40\r');
    const lines = (from: number) => Array.from({ length: 41 - from }, (_, at) => String(from + at));
    await bob.sees(new RegExp(`^${lines(22).join('\n')}\n\\$ $`));
    bob.resizes(120, 40);
    await bob.sees(new RegExp(`^${lines(12).join('\n')}\n\\$ *\n{10}`));
    bob.resizes(30, 10);
    await bob.sees(/^32\n(\d\d\n){8}\$ $/);
    alice.resizes(60, 20);
    await bob.sees('60×20');
    alice.types('stty size\r');
    await bob.sees(/\n40\n\$ stty size\n20 60\n\$ $/);
    bob.resizes(60, 20);
    await bob.sees(/^24\n(\d\d\n){16}\$ stty size\n20 60\n\$ $/);
    expect(bob.screen()).toEqual(alice.screen());
  });

  it('come back from a network that is frozen', async () => {
    const url = new URL(await newSession());
    const network = await cutProxy(gateway.port);
    url.port = String(network.port);
    const client = connect({ url: url.href, token, heartbeat: { quietMs: 200, answerMs: 300 }, reconnect: { firstMs: 10, maxMs: 100 } });
    clients.push(client);
    const becomes = (name: string) =>
      new Promise<State>((resolve) => {
        const stop = client.on('state', (state) => {
          if (state.name !== name) return;
          stop();
          resolve(state);
        });
      });
    await becomes('live');
    const lost = becomes('waiting');
    network.freeze();
    expect(await lost).toMatchObject({ message: 'the network or the gateway has gone silent' });
    const live = becomes('live');
    network.mend();
    await live;
    await network.close();
  });

  it('show every line once over cuts of the network', async () => {
    const url = new URL(await newSession());
    const network = await cutProxy(gateway.port);
    url.port = String(network.port);
    const alice = person([url.href]);
    await alice.sees('attached with control');
    alice.types('for i in 1 2 3 4 5 6; do echo "line $i."; read -t 0.3; done; echo done.\r');
    for (const line of ['line 2.', 'line 4.']) {
      await alice.sees(line);
      network.cut();
      await alice.sees('next try');
      network.mend();
    }
    await alice.sees(/^line 1\.\nline 2\.\nline 3\.\nline 4\.\nline 5\.\nline 6\.\ndone\.$/m);
    await network.close();
  });

  it('type from a pipe into a shell, and print into another what it says', async () => {
    const alice = person([await newSession()], { line: 'printf "echo \\$((40+2))\\nexit 4\\n" | "$@" 2>/dev/null | grep -c 42' });
    await alice.sees(/^1$/m);
    expect(await alice.exit).toBe(0);
  });

  it('let an agent send a message, follow the task, and end it', async () => {
    const client = connect({ url: await newSession(), token, role: 'controller' });
    clients.push(client);
    await new Promise<void>((resolve) => client.on('state', ({ name }) => name === 'live' && resolve()));
    const states: string[] = [];
    client.on('task', ({ task, delta }) => 'status' in delta && states.push(task.status.state));
    await client.tasks.subscribe();
    const task = await client.send('echo hello from an agent');
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect((await client.tasks.get()).id).toBe(task.id);
    expect((await client.tasks.cancel()).status.state).toBe('TASK_STATE_CANCELED');
    expect(await client.ended).toMatchObject({ reason: 'session_closed' });
    expect(states).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_CANCELED']);
    expect(client.closed).toMatchObject({ exit_code: null });
  });
});
