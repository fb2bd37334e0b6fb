// `pty-gateway play` as a person has it: in a real terminal, in tmux, with a file or a session, and with its output elsewhere.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { needs } from '../support/needs.js';
import { type RunningGateway, startGateway } from '../support/running-gateway.js';
import { command, Person, type PersonOptions } from './person.js';

let folder: string;
const people: Person[] = [];
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'play-'));
});
afterEach(() => {
  for (const person of people.splice(0)) person.kill();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function person(args: readonly string[], options: PersonOptions = {}): Person {
  const made = new Person(['play', ...args], options);
  people.push(made);
  return made;
}

function cast(name: string, events: ReadonlyArray<readonly [number, string, string]>, size = { width: 80, height: 24 }): string {
  const file = path.join(folder, name);
  writeFileSync(file, [{ version: 2, ...size }, ...events].map((line) => `${JSON.stringify(line)}\n`).join(''));
  return file;
}

const slow = () =>
  cast('slow.cast', [
    [0.1, 'o', 'one\r\n'],
    [100, 'o', 'two\r\n'],
    [200, 'o', '\x1b[?1049h\x1b[?25lthree'],
    [300, 'o', 'four'],
  ]);

describe('play', () => {
  it('plays a file to its end, without its waits, and gives the terminal back', async () => {
    const eve = person([slow(), '--idle-limit', '0.2']);
    expect(await eve.exit).toBe(0);
    expect(eve.raw).toMatch(/one[\s\S]*two[\s\S]*three[\s\S]*four/);
    expect(eve.isInAlternateScreen).toBe(false);
    expect(eve.raw.lastIndexOf('\x1b[?25h')).toBeGreaterThan(eve.raw.lastIndexOf('\x1b[?25l'));
  });

  it('pauses, seeks, steps and leaves by its keys', async () => {
    const eve = person([slow()]);
    await eve.sees('one');
    eve.types(' ');
    await eve.sees(/paused at 0:0\d of 5:00; space plays/);
    eve.types('.');
    await eve.sees(/one\ntwo/);
    await eve.sees('paused at 1:40 of 5:00');
    eve.types('.');
    await eve.sees('three');
    expect(eve.isInAlternateScreen).toBe(true);
    eve.types('\x1b[D');
    await eve.sees('paused at 3:15 of 5:00');
    await eve.sees(/one\ntwo/);
    eve.types('\x1b[F');
    await eve.sees('threefour');
    eve.types('\x1bOH');
    await eve.sees('paused at 0:00 of 5:00');
    eve.types('q');
    expect(await eve.exit).toBe(0);
    expect(eve.isInAlternateScreen).toBe(false);
  });

  it('begins where it is told to, in a window of any size', async () => {
    const large = cast(
      'large.cast',
      [
        [1, 'o', `\x1b[29;90Hcorner\x1b[1;1H`],
        [2, 'o', 'home'],
        [60, 'o', '.'],
      ],
      { width: 100, height: 30 },
    );
    const eve = person([large, '--from', '0:30']);
    await eve.sees('home');
    await eve.seesNo('corner');
    eve.resizes(110, 40);
    await eve.sees('corner');
  });

  it('gives the terminal back when it is ended by a signal', async () => {
    const eve = person([slow(), '--from', '3:20']);
    await eve.sees('three');
    process.kill(eve.pid, 'SIGTERM');
    expect(await eve.exit).toBe(128 + 15);
    expect(eve.isInAlternateScreen).toBe(false);
  });

  it('refuses what is no recording, and an output that is no terminal, in one sentence', async () => {
    const text = path.join(folder, 'text');
    writeFileSync(text, 'no cast\n');
    for (const [args, words] of [
      [[text], /text cannot be played: line 1: expected JSON/],
      [['nothing'], /"nothing" is no file, and no session/],
      [[slow(), '--speed', '0'], /expected 0\.1 to 100/],
    ] as const) {
      const eve = person(args, { cols: 200 });
      await eve.sees(words);
      expect(await eve.exit).toBe(1);
    }
    const piped = person([slow()], { line: '"$@" | cat', cols: 200 });
    await piped.sees('pty-gateway: the output is no terminal; with --raw it is printed all the same, as it is');
  });

  it('prints the output as it is with --raw', () => {
    const out = execFileSync(process.execPath, [command, 'play', '--raw', '-i', '0.05', slow()], { stdio: ['ignore', 'pipe', 'inherit'] });
    expect(out.toString()).toBe('one\r\ntwo\r\n\x1b[?1049h\x1b[?25lthreefour');
  });
});

describe('play of a session', () => {
  let gateway: RunningGateway;
  let token: string;
  beforeAll(async () => {
    gateway = await startGateway();
    token = new URLSearchParams(new URL(gateway.invitation).hash.slice(1)).get('token') ?? '';
  });
  afterAll(() => gateway.stop());

  it('takes its address or its id', async () => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const base = `http://127.0.0.1:${gateway.port}/agents/shell`;
    const made = await fetch(`${base}/sessions`, { method: 'POST', headers, body: JSON.stringify({ cols: 80, rows: 24 }) });
    const { session_id: id, pty_ws_url: url } = (await made.json()) as { session_id: string; pty_ws_url: string };
    const message = { messageId: 'm', role: 'ROLE_USER', taskId: id, parts: [{ text: 'echo $((6*7)); exit' }] };
    const sent = await fetch(`${base}/a2a/v1/message:send`, {
      method: 'POST',
      headers: { ...headers, 'a2a-version': '1.0' },
      body: JSON.stringify({ message }),
    });
    expect(sent.status).toBe(200);
    const env = { PTY_GATEWAY_TOKEN: token, PTY_GATEWAY_URL: `http://127.0.0.1:${gateway.port}` };
    for (const what of [url, id]) {
      const eve = person([what, '-i', '0.2'], { env });
      expect(await eve.exit).toBe(0);
      expect(eve.raw).toMatch(/\D42\r?\n/);
    }
    const lost = person(['0190f8c0-0000-7000-8000-000000000000'], { env, cols: 200 });
    await lost.sees(/there is no session "0190f8c0-0000-7000-8000-000000000000"/);
    expect(await lost.exit).toBe(1);
  });
});

needs('tmux')('play in tmux', () => {
  const socket = `play-${process.pid}`;
  const tmux = (...args: string[]) => execFileSync('tmux', ['-L', socket, '-f', '/dev/null', ...args], { encoding: 'utf8' });
  afterAll(() => {
    tmux('kill-server');
  });

  it('shows, pauses, and leaves the shell as it was', async () => {
    tmux('new-session', '-d', '-x', '80', '-y', '24', '/bin/sh');
    const pane = () => tmux('capture-pane', '-p');
    const sees = (words: RegExp) => expect.poll(pane, { timeout: 20_000 }).toMatch(words);
    tmux(
      'send-keys',
      `stty -g > before; ${process.execPath} ${command} play ${slow()} --from 3:20; stty -g > after; cmp before after && echo same`.replaceAll(
        /\b(before|after)\b/g,
        (name) => path.join(folder, name),
      ),
      'Enter',
    );
    await sees(/^three$/m);
    tmux('send-keys', 'Space');
    await sees(/paused at 3:2\d of 5:00/);
    tmux('send-keys', 'End');
    await sees(/threefour/);
    tmux('send-keys', 'q');
    await sees(/^same$/m);
    expect(pane()).not.toContain('threefour');
  });
});
