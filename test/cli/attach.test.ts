// `pty-gateway attach` as a person has it: in a real terminal, against a gateway whose part the test plays.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { decodeInput } from '../../src/protocol/binary-codec.js';
import { type Peer, type Refusal, type ScriptedGateway, scriptedGateway } from '../client/scripted-gateway.js';
import { command, Person, type PersonOptions } from './person.js';

const gateways: ScriptedGateway[] = [];
const people: Person[] = [];
afterEach(async () => {
  for (const person of people.splice(0)) person.kill();
  for (const each of gateways.splice(0)) await each.close();
});

async function gateway(refuse?: (nth: number) => Refusal | undefined): Promise<ScriptedGateway> {
  const made = await scriptedGateway(refuse);
  gateways.push(made);
  return made;
}

function person(args: readonly string[], options: PersonOptions = {}): Person {
  const made = new Person(args, { ...options, env: { PTY_GATEWAY_TOKEN: 'the-token', ...options.env } });
  people.push(made);
  return made;
}

const size = { cols: 80, rows: 24 };

/** What is typed up to `last`, in whatever pieces it comes; other messages are passed over. */
async function typedUpTo(peer: Peer, last: string): Promise<string> {
  let text = '';
  while (!text.endsWith(last)) {
    const heard = await peer.hear();
    if (heard instanceof Uint8Array) text += new TextDecoder().decode(decodeInput(heard));
    else if (heard.op === 'ping') peer.answer(heard, 'pong', {});
  }
  return text;
}

async function attached(options: PersonOptions & { args?: string[]; role?: string } = {}) {
  const { url, connection } = await gateway();
  const alice = person(['attach', url, ...(options.args ?? [])], options);
  const peer = await connection();
  const join = await peer.welcome(1, { role: options.role ?? 'controller', clientId: 'alice' });
  if (options.role !== 'observer') expect(await peer.hear()).toMatchObject({ op: 'pty.session_resize', payload: options.line ? {} : size });
  peer.keyframe(3, '\x1b[Hthe prompt$ ', { ...size, ...options });
  return { alice, peer, join, url, connection };
}

describe('attach', () => {
  it('shows the session, says how to detach, types what is typed, and ends with the exit code of the program', async () => {
    const { alice, peer, join } = await attached({ args: ['--label', 'alice'] });
    expect(join.payload).toEqual({ role: 'controller', client_label: 'alice', ...size });
    expect(peer.request.headers.authorization).toBe('Bearer the-token');
    await alice.sees('the prompt$');
    await alice.sees(/attached with control; ctrl-\] d detaches/);
    alice.types('exit 3\r');
    expect(await typedUpTo(peer, '\r')).toBe('exit 3\r');
    peer.output(4, 'bye\r\n');
    peer.frame(5, { kind: 'Closed', exit_code: 3, reason: 'command_result' });
    peer.goodbye('session_closed');
    expect(await alice.exit).toBe(3);
    await alice.sees('the session has ended: exit code 3');
  });

  it('shows the line about detaching below the screen, which it covers no row of, and takes it away without asking for a picture', async () => {
    const rows = Array.from({ length: 24 }, (_, row) => `row ${row + 1}.`);
    const { alice, peer } = await attached();
    peer.output(4, `\x1b[H\x1b[J${rows.join('\r\n')}`);
    await alice.sees(/row 24\.\n attached with control; ctrl-\] d detaches *$/m);
    await alice.seesNo('detaches');
    expect(alice.screen()).toEqual(rows);
    alice.types('.');
    expect(await typedUpTo(peer, '.')).toBe('.');
  });

  it('detaches on its keys, leaves in order and says that the session goes on', async () => {
    const { alice, peer } = await attached();
    await alice.sees('the prompt$');
    alice.types('\x1dd');
    expect(await peer.hear()).toMatchObject({ op: 'pty.leave_session' });
    peer.goodbye('session_closed', 1000, 'left');
    expect(await alice.exit).toBe(0);
    await alice.sees('detached; the session goes on');
  });

  it('types the first of the detach keys when another key follows', async () => {
    const { alice, peer } = await attached({ args: ['--detach-keys', 'ctrl-p,ctrl-q'] });
    await alice.sees('ctrl-p ctrl-q detaches');
    alice.types('\x10x\x1dd.');
    expect(await typedUpTo(peer, '.')).toBe('\x10x\x1dd.');
  });

  it('follows the size of the window while it has control', async () => {
    const { alice, peer } = await attached();
    await alice.sees('the prompt$');
    alice.resizes(100, 30);
    expect(await peer.hear()).toMatchObject({ op: 'pty.session_resize', payload: { cols: 100, rows: 30 } });
  });

  it('gives the terminal back as it was after a program that is full of modes', async () => {
    const { alice, peer } = await attached();
    await alice.sees('the prompt$');
    peer.output(4, '\x1b[?1049h\x1b[?1000h\x1b[?2004h\x1b[?25l\x1b[5;10r\x1b[31m\x1b[?1h\x1b[4hin an editor');
    await alice.sees('in an editor');
    expect(alice.isInAlternateScreen).toBe(true);
    alice.kill('SIGTERM');
    expect(await alice.exit).toBe(143);
    await alice.sees('detached; the session goes on');
    expect(alice.isInAlternateScreen).toBe(false);
    expect(alice.modes).toMatchObject({
      bracketedPasteMode: false,
      mouseTrackingMode: 'none',
      applicationCursorKeysMode: false,
      insertMode: false,
    });
    expect(alice.raw.lastIndexOf('\x1b[?25h')).toBeGreaterThan(alice.raw.lastIndexOf('\x1b[?25l'));
  });

  it('gives the terminal back even when the command itself fails', async () => {
    const failing = "process.on('SIGUSR2', () => { throw new Error('a fault of ours') })";
    const { alice, peer } = await attached({ env: { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(failing)}"` } });
    peer.output(4, '\x1b[?1049h\x1b[?1003hin an editor');
    await alice.sees('in an editor');
    alice.kill('SIGUSR2');
    expect(await alice.exit).toBeGreaterThan(0);
    await alice.seesNo('in an editor');
    expect(alice.isInAlternateScreen).toBe(false);
    expect(alice.modes.mouseTrackingMode).toBe('none');
  });

  it('comes back after a cut with the past it missed, and tells of it in a line', async () => {
    const { alice, peer, connection } = await attached();
    await alice.sees('the prompt$');
    peer.output(4, 'one ');
    await alice.sees('one');
    peer.cut();
    await alice.sees(/the connection was lost; next try in 1 s/);
    const again = await connection();
    const join = await again.welcome(10);
    expect(join.replay_from).toBe(4);
    again.replayed(5, 'two\x1b[c\x1b[6n ');
    again.keyframe(12, '\x1b[H\x1b[Jthe prompt$ one two', size);
    await alice.sees('one two');
    await alice.seesNo('next try');
    expect(await again.hear()).toMatchObject({ op: 'pty.session_resize' });
    alice.types('.');
    expect(await typedUpTo(again, '.')).toBe('.');
  });

  it('tells who watches that their window is too small, and takes ctrl-c for going', async () => {
    const { alice, peer, join } = await attached({ args: ['--role', 'observer'], role: 'observer', cols: 120, rows: 40 });
    expect(join.payload).toMatchObject({ role: 'observer' });
    await alice.sees(/watching; ctrl-\] d detaches/);
    peer.frame(4, { kind: 'Resize', cols: 200, rows: 50 });
    await alice.sees('you see the part around the cursor, and arrow keys another; the session is 200×50, your window 120×40');
    peer.output(5, '\x1b[50;190Hfar corner\x1b[H');
    alice.types('\x1b[6~\x1b[4~');
    await alice.sees('far corner');
    alice.types('\x1b');
    await alice.sees(/^the prompt\$/m);
    alice.types('\x03');
    expect(await peer.hear()).toMatchObject({ op: 'pty.leave_session' });
    peer.goodbye('session_closed', 1000, 'left');
    expect(await alice.exit).toBe(0);
  });

  it('counts down to the next try, keeps the detach keys in view, and does not claim that the session goes on', async () => {
    const { alice, peer } = await attached();
    await alice.sees('the prompt$');
    peer.goodbye('rate_limited', 4429);
    await alice.sees(/^ the gateway is asked for too much; next try in 1[01] s; ctrl-\] d detaches *$/m);
    await alice.sees(/next try in 9 s; ctrl-\] d detaches *$/m);
    alice.types('\x1dd');
    expect(await alice.exit).toBe(0);
    await alice.sees('detached without a connection; the session may go on');
  });

  it('tells whose control was taken from them at once, and until they type', async () => {
    const { alice, peer } = await attached();
    await alice.sees('attached with control');
    peer.frame(4, { kind: 'RoleAssigned', role: 'observer', client_id: 'alice' });
    peer.members(5, ['bob']);
    await alice.sees(/^the prompt\$ *\n(.*\n)* control was taken from you; you are watching *$/m);
    peer.output(6, 'more ');
    await alice.sees(/^the prompt\$ more *\n(.*\n)* control was taken from you; you are watching *$/m);
    alice.types('x');
    await alice.sees('watching; ctrl-] d detaches');
  });

  it('types what comes from a pipe, all of it in order', async () => {
    const { peer } = await attached({ line: 'printf "ls\\nexit 7\\n" | "$@"; echo "code $?"' });
    expect(await typedUpTo(peer, 'exit 7\n')).toBe('ls\nexit 7\n');
    peer.frame(5, { kind: 'Closed', exit_code: 7, reason: 'command_result' });
    peer.goodbye('session_closed');
    await (people[0] as Person).sees('code 7');
  });

  it('leaves when what was piped in has ended and nothing more is printed', async () => {
    const { peer } = await attached({ line: 'echo ls | "$@"; echo "code $?"' });
    expect(await typedUpTo(peer, 'ls\n')).toBe('ls\n');
    const ping = await peer.hear();
    if (!(ping instanceof Uint8Array)) peer.answer(ping, 'pong', {});
    peer.output(4, 'file\r\n');
    const asked = async (): Promise<unknown> => {
      const heard = await peer.hear();
      if (!(heard instanceof Uint8Array) && heard.op !== 'ping') return heard;
      if (!(heard instanceof Uint8Array)) peer.answer(heard, 'pong', {});
      return asked();
    };
    expect(await asked()).toMatchObject({ op: 'pty.leave_session' });
    peer.goodbye('session_closed', 1000, 'left');
    await (people[0] as Person).sees('code 0');
  });

  it('stops and goes on as a job of a shell, with the terminal as it was in between', async () => {
    const { url, connection } = await gateway();
    const alice = person(['attach', url], { line: 'PS1="sh> " exec bash --norc --noprofile -i' });
    await alice.sees('sh>');
    alice.types(`${process.execPath} ${command} attach ${url}\r`);
    const peer = await connection();
    await peer.welcome(1, { role: 'observer', clientId: 'alice', controllers: ['bob'] });
    peer.keyframe(3, '\x1b[Hthe prompt$ ', size);
    await alice.sees('the prompt$');
    alice.types('\x1a');
    await alice.sees(/Stopped/);
    alice.types('stty -a | grep -o " icanon"; echo "in" between\r');
    await alice.sees(/ icanon\nin between/);
    alice.types('fg\r');
    await alice.seesNo('in between');
    await alice.sees(/^the prompt\$/);
    alice.types('\x03');
    expect(await peer.hear()).toMatchObject({ op: 'pty.leave_session' });
    peer.goodbye('session_closed', 1000, 'left');
    await alice.sees(/detached[^\n]*\nsh>/);
  });

  it('leaves no blank lines between what the session shows and what is said behind it', async () => {
    const { alice, peer } = await attached();
    await alice.sees('attached with control');
    await alice.seesNo('detaches');
    peer.frame(5, { kind: 'Closed', exit_code: 0, reason: 'command_result' });
    peer.goodbye('session_closed');
    await alice.sees(/^the prompt\$ *\n\[pty-gateway\] the session has ended/);
    expect(await alice.exit).toBe(0);
  });

  it('prints the output alone where there is no terminal to paint on', async () => {
    const { url, connection } = await gateway();
    const alice = person(['attach', url, '--replay-from', '0'], { line: '"$@" </dev/null 2>/dev/null | od -c -An' });
    const peer = await connection();
    expect((await peer.welcome(4)).replay_from).toBe(0);
    peer.replayed(1, 'past\n');
    peer.keyframe(6, 'a picture');
    peer.output(7, 'live\n');
    peer.frame(8, { kind: 'Closed', exit_code: 0, reason: 'command_result' });
    peer.goodbye('session_closed');
    await alice.exit;
    expect(alice.raw.replace(/\s/g, '')).toBe('past\\nlive\\n');
  });
});

describe('attach that cannot be', () => {
  it.each([
    [['some-label'], { PTY_GATEWAY_URL: 'http://127.0.0.1:1' }, /http:\/\/127\.0\.0\.1:1 cannot be reached \(/],
    [['some-label'], { PTY_GATEWAY_URL: '127.0.0.1:1' }, /"127\.0\.0\.1:1" is no address; expected that of a gateway/],
    [['http://127.0.0.1:1/'], {}, /is no session's address; `pty-gateway sessions` lists them/],
    [
      ['ws://127.0.0.1:1/agents/a/sessions/b/attach'],
      { PTY_GATEWAY_TOKEN: '' },
      /there is no token; .*\n {2}export PTY_GATEWAY_TOKEN=\$\(pty-gateway token --scope pty:control --sub \S+ --ttl 8h\)\n/,
    ],
    [['ws://127.0.0.1:1/agents/a/sessions/b'], {}, /127\.0\.0\.1:1 cannot be reached \(.*ECONNREFUSED/],
    [['ws://h/agents/a/sessions/b', '--detach-keys', 'ctrl-1'], {}, /expected keys with commas between/],
    [['ws://h/agents/a/sessions/b', '--replay-from', '-1'], {}, /expected the number of a frame/],
    [['ws://h/agents/a/sessions/b', '--rle', 'observer'], {}, /unknown option '--rle'\n\(Did you mean --role\?\)/],
    [[], {}, /missing required argument 'session'/],
  ])('says what to do: %s', async (args, env, words) => {
    const run = promisify(execFile)(process.execPath, [command, 'attach', ...args], {
      env: { PATH: process.env.PATH, PTY_GATEWAY_TOKEN: 't', ...env },
    });
    const { stderr, code } = await run.catch((error) => error);
    expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(code).toBe(255);
  });

  it('gives the reason of the gateway, on a terminal that was not touched', async () => {
    const { url } = await gateway(() => ({ status: 401, body: { error: { code: 'UNAUTHENTICATED', message: 'the token has expired' } } }));
    const alice = person(['attach', url], { cols: 300 });
    expect(await alice.exit).toBe(255);
    await alice.sees("the token is not taken: the token has expired; where the gateway's AUTH_JWT_SECRET is set");
    expect(alice.raw).not.toContain('\x1b');
  });
});
