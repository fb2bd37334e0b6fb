// The end of a terminal: all that the process printed, then its exit, whatever happens around it.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { childEnvironment } from '../../src/terminal/environment.js';
import { folder, linux, pass, run, sh, until } from './real-pty.js';

const alive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** Also dead is what waits for init to reap it. */
const dead = (pid: number) => !alive(pid) || (linux && /\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'latin1')));

/** Keeps the event loop busy for `ms` at a time, until the function it returns is called. */
function busyLoop(ms: number): () => void {
  const timer = setInterval(() => {
    for (const end = performance.now() + ms; performance.now() < end; );
  }, 1);
  return () => clearInterval(timer);
}

describe('the output of a process that has ended', () => {
  it('comes whole and before the exit, for 1,000 programs that print 1 to 200 KB and exit at once, on a busy event loop', async () => {
    const whole = Buffer.from(Array.from({ length: 200_000 }, (_, i) => 33 + ((i * 7 + (i >> 8)) % 90)));
    const file = join(folder(), 'whole');
    writeFileSync(file, whole);
    const idle = busyLoop(5);
    const lost: number[] = [];
    let next = 0;
    const worker = async () => {
      for (let i = next++; i < 1000; i = next++) {
        const length = i % 2 ? 1000 + ((i * 7919) % 15_000) : 1000 + ((i * 104_729) % 199_000);
        const program = await run(['head', '-c', String(length), file], { env: childEnvironment({}) });
        await program.exit;
        if (!program.bytes().equals(whole.subarray(0, length)) || program.events.at(-1) !== 'exit') lost.push(length);
      }
    };
    await Promise.all(Array.from({ length: 20 }, worker));
    idle();
    expect(lost).toEqual([]);
  }, 120_000);

  it('comes whole when the event loop sleeps through death and grace', async () => {
    const program = await sh('head -c 5000 /dev/zero | tr "\\0" x; printf end');
    for (const end = performance.now() + 700; performance.now() < end; );
    await program.exit;
    expect(program.text()).toBe(`${'x'.repeat(5000)}end`);
  });

  it('comes whole when Ctrl-S has stopped it', async () => {
    const program = await sh('printf first; read -r _; head -c 3000 /dev/zero | tr "\\0" x; read -r _');
    await program.printed('first');
    program.terminal.pause();
    await program.terminal.write(Buffer.from('\n'));
    await pass(100);
    await program.terminal.write(Buffer.from('\x13'));
    program.terminal.end(0);
    await until(() => !alive(program.terminal.pid));
    program.terminal.resume();
    await program.exit;
    expect(program.text()).toBe(`first\r\n${'x'.repeat(3000)}`);
  });

  it('shows no trace of how its end was found when the terminal was full', async () => {
    for (let spare = 0; spare < 40; spare += 3) {
      const program = await sh(`stty raw -echo; printf first; head -c ${spare} /dev/zero; exec cat /dev/zero`);
      await program.printed('first');
      program.terminal.pause();
      await pass(20);
      program.terminal.end(0);
      await until(() => !alive(program.terminal.pid));
      program.terminal.resume();
      await program.exit;
      expect(
        program
          .bytes()
          .subarray('first'.length)
          .every((byte) => byte === 0),
      ).toBe(true);
    }
  });

  it.runIf(linux)('comes whole in raw mode, and with the odd output modes', async () => {
    for (const modes of ['raw -echo', 'olcuc', 'ocrnl onocr', '-opost', 'tab3', 'tostop']) {
      const program = await sh(`stty ${modes}; printf 'some text'`);
      await program.exit;
      expect(program.text().toLowerCase()).toBe('some text');
    }
  });

  it('waits for a paused reader to resume', async () => {
    const program = await sh('printf before; read -r _; head -c 6000 /dev/zero | tr "\\0" y');
    await program.printed('before');
    program.terminal.pause();
    await program.terminal.write(Buffer.from('\n'));
    await until(() => !alive(program.terminal.pid));
    await pass(100);
    expect(program.events).not.toContain('exit');
    program.terminal.resume();
    await program.exit;
    expect(program.text()).toBe(`before\r\n${'y'.repeat(6000)}`);
  });

  it('comes within a bound when a paused reader never resumes', async () => {
    const program = await sh('printf before; read -r _; head -c 6000 /dev/zero | tr "\\0" y');
    await program.printed('before');
    program.terminal.pause();
    await program.terminal.write(Buffer.from('\n'));
    await program.exit;
    expect(program.text()).toBe(`before\r\n${'y'.repeat(6000)}`);
  });

  it('is not waited for from a child that was left behind, silent or flooding', async () => {
    const silent = await sh('(trap "" HUP; sleep 60) & printf done');
    expect(await silent.exit).toEqual({ code: 0, signal: null });
    expect(silent.text()).toBe('done');
    const flooding = await sh('(trap "" HUP; yes) & printf done; exit 4');
    expect(await flooding.exit).toEqual({ code: 4, signal: null });
    const printed = flooding.events.length;
    await pass(50);
    expect(flooding.events.length).toBe(printed);
    expect(flooding.text()).not.toMatch(/\d{4}/);
  });
});

describe('the exit', () => {
  it('tells the code, or the name of the signal', async () => {
    expect(await (await sh('exit 7')).exit).toEqual({ code: 7, signal: null });
    expect(await (await sh('kill -TERM $$')).exit).toEqual({ code: null, signal: 'SIGTERM' });
    expect(await (await sh('kill -SEGV $$')).exit).toEqual({ code: null, signal: 'SIGSEGV' });
    expect(await (await sh('kill -ABRT $$')).exit).toEqual({ code: null, signal: 'SIGABRT' });
  });

  it('comes once, and the process is reaped', async () => {
    const program = await sh('true');
    await program.exit;
    expect(program.events.filter((event) => event === 'exit')).toHaveLength(1);
    expect(alive(program.terminal.pid)).toBe(false);
  });

  it('makes later and waiting writes and resizes fail by name', async () => {
    const program = await sh('stty raw -echo; printf ready; exec sleep 60');
    await program.printed('ready');
    const waiting = program.terminal.write(Buffer.alloc(1024 * 1024, 97));
    program.terminal.end(0);
    await expect(waiting).rejects.toMatchObject({ name: 'TerminalError', failure: 'ended', message: 'the process has ended' });
    await program.exit;
    await expect(program.terminal.write(Buffer.from('x'))).rejects.toMatchObject({ failure: 'ended' });
    expect(() => program.terminal.resize({ cols: 90, rows: 30 })).toThrow(expect.objectContaining({ failure: 'resize' }));
  });

  it('leaves no descriptor behind after 300 terminals', async () => {
    const open = () => readdirSync('/dev/fd').length;
    await (await sh('true')).exit;
    const before = open();
    for (let i = 0; i < 30; i++) await Promise.all(Array.from({ length: 10 }, async () => (await sh('printf x')).exit));
    expect(open()).toBe(before);
  });
});

describe('end', () => {
  it('hangs up: the shell and what it runs in the foreground go', async () => {
    const program = await run(['/bin/bash', '--norc', '-i'], { env: childEnvironment({ PS1: '> ' }) });
    await program.terminal.write(Buffer.from("sh -c 'echo $$ is the child; exec sleep 60'\n"));
    await program.printed('is the child\r\n');
    const child = Number(/(\d+) is the child\r/.exec(program.text())?.[1]);
    program.terminal.end();
    await program.exit;
    await until(() => dead(child));
    expect(program.events.at(-1)).toBe('exit');
  });

  it('wakes a stopped process so that it can go', async () => {
    const program = await sh('trap "printf bye; exit 5" HUP; printf ready; kill -STOP $$; sleep 60');
    await program.printed('ready');
    program.terminal.end(20_000);
    expect(await program.exit).toEqual({ code: 5, signal: null });
    expect(program.text()).toBe('readybye');
  });

  it('kills what ignores SIGHUP, and its children in the foreground', async () => {
    const program = await sh('trap "" HUP TERM INT; (while :; do sleep 1; done) & echo $! ready; while :; do sleep 1; done');
    await program.printed('ready');
    const child = Number.parseInt(program.text(), 10);
    program.terminal.end(50);
    expect(await program.exit).toEqual({ code: null, signal: 'SIGKILL' });
    await until(() => dead(child));
  });

  it('kills what outlives its leader in the group', async () => {
    const program = await sh('(trap "" HUP; echo child $$; exec sleep 60) & printf "pid %s " $!; wait');
    await program.printed('child');
    const child = Number(/pid (\d+)/.exec(program.text())?.[1]);
    program.terminal.end(100);
    await program.exit;
    await until(() => dead(child));
  });

  it('may come at once, and twice', async () => {
    const program = await run(['sleep', '60']);
    program.terminal.end();
    program.terminal.end(0);
    expect((await program.exit).code).toBe(null);
  });
});
