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
    ['waits for a signal of what sleeps', 'timeout --foreground 90 sleep 60; true'],
  ])('works: it %s', async (_, script) => {
    const { terminal } = await sh(`${script}`);
    await until(() => terminal.activity() === 'working');
    const looks = Array.from({ length: 50 }, () => terminal.activity());
    expect(looks).not.toContain('reading');
  });

  it.each([
    ['the time', ['node', '-e', 'setTimeout(() => {}, 60_000)']],
    ['a server', ['node', '-e', 'require("net").createServer().listen(0, "127.0.0.1")']],
    ['a process of another group', ['bash', '-c', 'set -m; sleep 60 & wait']],
  ])('waits elsewhere: for %s', async (_, [program, ...args]) => {
    const { terminal } = await run(['/usr/bin/env', program as string, ...args]);
    await until(() => terminal.activity() === 'elsewhere');
    expect(Array.from({ length: 50 }, () => terminal.activity())).not.toContain('reading');
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

needs('python3')('A program that waits', () => {
  it.runIf(linux).each([
    ['in poll', 'import select; p = select.poll(); p.register(r); p.poll()'],
    ['in select', 'import select; select.select([r], [], [], 90)'],
    ['in epoll', 'import select; p = select.epoll(); p.register(r); p.poll()'],
  ])('is elsewhere, unless its terminal is among what it waits for: %s', async (_, script) => {
    const [pipe, both] = [script, script.replace('[r]', '[r, 0]').replace('register(r)', 'register(r); p.register(0)')];
    const [elsewhere, either] = await Promise.all(
      [pipe, both].map((text) => run(['/usr/bin/env', 'python3', '-c', `import os; r, w = os.pipe(); ${text}`])),
    );
    await until(() => elsewhere?.terminal.activity() === 'elsewhere');
    // On its way it does other things.
    await until(() => Array.from({ length: 20 }, () => either?.terminal.activity()).every((activity) => activity === 'unknown'));
  });

  it.runIf(linux)('works while a thread does for which it waits', async () => {
    const script = 'import threading, time; t = threading.Thread(target=lambda: time.sleep(90)); t.start(); t.join()';
    const { terminal } = await run(['/usr/bin/env', 'python3', '-c', script]);
    await until(() => Array.from({ length: 20 }, () => terminal.activity()).every((activity) => activity === 'working'));
  });
});

needs('python3')('A prompt of readline in another program', () => {
  it.runIf(linux)('reads', async () => {
    const { terminal, printed } = await run(['/usr/bin/env', 'python3', '-q']);
    await printed('>>> ');
    await until(() => terminal.activity() === 'reading');
  });
});
