// A command that cannot be started is refused in words, before there is a terminal.
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { childEnvironment } from '../../src/terminal/environment.js';
import { spawnTerminal } from '../../src/terminal/pty.js';
import { type Command, TerminalError } from '../../src/terminal/terminal.js';
import { command, folder, run } from './real-pty.js';

async function refusal(argv: readonly string[], more: Partial<Command> = {}): Promise<string> {
  const unexpected = () => expect.fail('there must be no terminal');
  const error = await spawnTerminal(command(argv, more), { output: unexpected, exit: unexpected }).then(unexpected, (reason) => reason);
  expect(error).toBeInstanceOf(TerminalError);
  expect(error.failure).toBe('start');
  return error.message;
}

function file(name: string, content: string, mode: number): string {
  const path = join(folder(), name);
  writeFileSync(path, content, { mode });
  return path;
}

describe('a command that cannot start', () => {
  it('is told that there is no such program', async () => {
    expect(await refusal(['/no/such/program'])).toBe('cannot execute "/no/such/program": there is no such file');
    expect(await refusal(['no-such-program'], { env: { PATH: '/bin:/usr/bin' } })).toBe(
      'cannot execute "no-such-program": it is in no folder of PATH (/bin:/usr/bin)',
    );
  });

  it('is told that the program is a folder, or not executable', async () => {
    const dir = folder();
    expect(await refusal([dir])).toContain('is a folder');
    expect(await refusal([file('plain', 'text', 0o644)])).toContain('permission denied');
    expect(await refusal(['/dev/null'])).toContain('is not a file');
  });

  it('is told that the interpreter of a script is missing', async () => {
    expect(await refusal([file('script', '#! /no/such/interpreter -x\n', 0o755)])).toContain(
      'its interpreter "/no/such/interpreter" does not exist',
    );
  });

  it('is told what is wrong with its folder', async () => {
    expect(await refusal(['/bin/true'], { cwd: '/no/such/folder' })).toBe(
      'cannot start in "/no/such/folder": there is no such file or folder',
    );
    expect(await refusal(['/bin/true'], { cwd: '/bin/true' })).toContain('it is not a folder');
  });

  it('is told of strings that no program can be given', async () => {
    expect(await refusal([])).toBe('the command is empty');
    expect(await refusal([''])).toBe('the command is empty');
    expect(await refusal(['/bin/echo', 'a\0b'])).toContain('contains a NUL character');
    expect(await refusal(['/bin/true'], { env: { 'A=B': '1' } })).toContain('cannot be the name of an environment variable');
    expect(await refusal(['/bin/echo', 'x'.repeat(200_000)])).toContain('longer than 131071 bytes');
    expect(await refusal(['/bin/echo', ...Array.from({ length: 20 }, () => 'x'.repeat(100_000))])).toContain('longer than 1048576 bytes');
  });

  it('leaves no descriptor behind', async () => {
    const before = readdirSync('/dev/fd').length;
    for (let i = 0; i < 20; i++) await refusal(['/no/such/program']);
    expect(readdirSync('/dev/fd').length).toBe(before);
  });
});

describe('a command that can start', () => {
  it('is looked for in the PATH of the child, and sees its own name', async () => {
    const dir = folder();
    writeFileSync(join(dir, 'tool'), '#!/bin/sh\necho "I am $(basename "$0")"\n', { mode: 0o755 });
    const program = await run(['tool'], { env: { ...childEnvironment({}), PATH: `/no/such:${dir}:/bin:/usr/bin` } });
    await program.exit;
    expect(program.text()).toBe('I am tool\r\n');
  });

  it('may be named relative to its folder, and through links', async () => {
    const dir = folder();
    mkdirSync(join(dir, 'bin'));
    symlinkSync('/bin/echo', join(dir, 'bin', 'say'));
    const program = await run(['./bin/say', 'hello'], { cwd: dir });
    await program.exit;
    expect(program.text()).toBe('hello\r\n');
  });
});
