// What the kernel says of real programs on a PTY.
import { describe, expect, it } from 'vitest';
import { needs } from '../support/needs.js';
import { linux, run, sh, until } from './real-pty.js';

const shell = ['/bin/bash', '--noprofile', '--norc'];

describe.runIf(linux)('The program in the foreground', () => {
  it.each([
    ['a shell at its prompt', shell],
    ['a plain shell', ['/bin/sh', '-c', 'read line']],
    ['cat', ['/bin/cat']],
    ['one of a pipeline', ['/bin/sh', '-c', 'cat | sort']],
    ['a child of a child', ['/bin/sh', '-c', 'sh -c "cat; true"; true']],
    ['who opened the terminal anew', ['/bin/sh', '-c', 'read line </dev/tty']],
  ])('reads: %s', async (_, argv) => {
    const { terminal } = await run(argv);
    await until(() => terminal.activity() === 'reading');
  });

  it.each([
    ['sleeps', 'sleep 60'],
    ['sleeps in a pipeline', 'sleep 60 | cat'],
    ['computes', 'while true; do :; done'],
    ['waits for what sleeps', 'sh -c "sleep 60; true"; true'],
  ])('works: it %s', async (_, script) => {
    const { terminal } = await sh(`${script}`);
    await until(() => terminal.activity() === 'working');
    const looks = Array.from({ length: 50 }, () => terminal.activity());
    expect(looks).not.toContain('reading');
  });

  it('is not the one in the background', async () => {
    const { terminal, printed } = await run(shell);
    await terminal.write(Buffer.from('sleep 60 & echo begun-$((1))\r'));
    await printed('begun-1');
    await until(() => terminal.activity() === 'reading');
    await terminal.write(Buffer.from('fg\r'));
    await until(() => terminal.activity() === 'working');
    await terminal.write(Buffer.from('\x03'));
    await until(() => terminal.activity() === 'reading');
  });

  it('may be either when it waits for several things, or cannot be looked at', async () => {
    const { terminal } = await run(['/usr/bin/env', 'node', '-e', 'process.stdin.on("data", () => {})']);
    await until(() => terminal.activity() === 'unknown');
  });

  it('is unknown when it has ended', async () => {
    const { terminal, exit } = await sh('exit 0');
    await exit;
    expect(terminal.activity()).toBe('unknown');
  });
});

needs('python3')('A prompt of readline in another program', () => {
  it.runIf(linux)('reads', async () => {
    const { terminal, printed } = await run(['/usr/bin/env', 'python3', '-q']);
    await printed('>>> ');
    await until(() => terminal.activity() === 'reading');
  });
});
