// What shells complete, in the shells themselves.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { needs } from '../support/needs.js';
import { type RunningGateway, startGateway } from '../support/running-gateway.js';
import { command } from './person.js';

let gateway: RunningGateway;
let folder: string;
let session: string;
let env: Record<string, string>;

beforeAll(async () => {
  gateway = await startGateway();
  folder = mkdtempSync(path.join(tmpdir(), 'completion-'));
  const program = path.join(folder, 'pty-gateway');
  writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${command} "$@"\n`);
  chmodSync(program, 0o755);
  env = { PATH: `${folder}:${process.env.PATH}`, PTY_GATEWAY_URL: gateway.invitation, HOME: folder };
  session = execFileSync(program, ['new', 'shell', '--label', 'nightly build: 1'], { env, encoding: 'utf8' }).trim();
}, 60_000);
afterAll(async () => {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
});

const run = (shell: string, ...args: string[]) => execFileSync(shell, args, { env, encoding: 'utf8', cwd: folder }).trim();

needs('bash')('bash', () => {
  const completes = (...words: string[]) =>
    run(
      'bash',
      '--norc',
      '-c',
      `source <(pty-gateway completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pty_gateway; echo "\${COMPREPLY[@]}"`,
      'bash',
      'pty-gateway',
      ...words,
    );

  it('knows commands, options and their values, and asks the gateway for sessions and instances', { timeout: 60_000 }, () => {
    expect(completes('wai')).toBe('wait-for');
    expect(completes('screen', '--form')).toBe('--format');
    expect(completes('screen', session, '--format', 'p')).toBe('png');
    expect(completes('screen', '')).toBe(`nightly\\ build:\\ 1 ${session}`);
    expect(completes('screen', 'nightly\\ b')).toBe('nightly\\ build:\\ 1');
    expect(completes('screen', session.slice(0, 8))).toBe(session);
    expect(completes('new', '')).toBe('shell');
  });
});

needs('fish')('fish', () => {
  const completes = (line: string) =>
    run('fish', '--no-config', '-c', `pty-gateway completion fish | source; complete -C '${line}'`).replace(/\t.*/g, '');

  it('knows commands, options and their values, and asks the gateway for sessions', { timeout: 60_000 }, () => {
    expect(completes('pty-gateway wai')).toBe('wait-for');
    expect(completes('pty-gateway screen x --format p')).toBe('png');
    expect(completes('pty-gateway screen ')).toBe(`${session}\nnightly build: 1`);
  });
});

needs('zsh')('zsh', () => {
  it('takes the script, and asks the gateway for sessions', { timeout: 60_000 }, () => {
    const script =
      'source <(pty-gateway completion zsh); _describe() { print -rl $words }; _pty_gateway_ask session; print $_comps[pty-gateway]';
    expect(run('zsh', '-f', '-c', script)).toBe(`nightly build\\: 1:of shell\n${session}:nightly build: 1\n_pty_gateway`);
  });
});
