// A program on a real PTY: what it is given, what it prints, what is typed to it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAX_UNWRITTEN_BYTES } from '../../src/terminal/pty-writer.js';
import { folder, linux, pass, run, sh, until } from './real-pty.js';

describe('a program', () => {
  it('has a terminal of the size asked for, in its folder', async () => {
    const program = await sh('tty; stty size; pwd', { cols: 132, rows: 43, cwd: '/usr' });
    await program.exit;
    const [tty, size, cwd] = program.text().split('\r\n');
    expect(tty).toMatch(/^\/dev\//);
    expect([size, cwd]).toEqual(['43 132', '/usr']);
  });

  it.runIf(linux)('leads its session, its group, and the foreground of its terminal', async () => {
    const program = await run(['cat', '/proc/self/stat']);
    await program.exit;
    const [, group, session, , foreground] = program
      .text()
      .replace(/^.*\) \w /, '')
      .split(' ')
      .map(Number);
    expect([group, session, foreground]).toEqual([program.terminal.pid, program.terminal.pid, program.terminal.pid]);
  });

  it.runIf(linux)('has no signal blocked, ignored or caught', async () => {
    const program = await run(['cat', '/proc/self/status']);
    await program.exit;
    const masks = program.text().match(/(?<=Sig(Blk|Ign|Cgt):\t)[0-9a-f]+/g);
    expect(masks?.map((mask) => Number.parseInt(mask, 16))).toEqual([0, 0, 0]);
  });

  it('is interrupted by Ctrl-C', async () => {
    const program = await sh('printf ready; exec sleep 60');
    await program.printed('ready');
    await program.terminal.write(Buffer.from('\x03'));
    expect(await program.exit).toEqual({ code: null, signal: 'SIGINT' });
  });

  it('learns of a resize', async () => {
    const program = await sh('trap "stty size; exit" WINCH; printf ready; while :; do sleep 0.01; done');
    await program.printed('ready');
    program.terminal.resize({ cols: 101, rows: 33 });
    await program.exit;
    expect(program.text()).toBe('ready33 101\r\n');
  });

  it('prints bytes, not characters', async () => {
    const program = await sh("stty raw; printf '\\377\\0\\303'");
    await program.exit;
    expect([...program.bytes()]).toEqual([0xff, 0, 0xc3]);
  });
});

describe('write', () => {
  it('types in the order of the calls', async () => {
    const program = await sh('stty raw -echo; printf ready; exec head -c 5890');
    await program.printed('ready');
    const words = Array.from({ length: 1000 }, (_, i) => `${i} `);
    await Promise.all(words.map((word) => program.terminal.write(Buffer.from(word))));
    await program.terminal.write(Buffer.alloc(2000));
    await program.exit;
    expect(program.text().slice('ready'.length, 'ready'.length + 3890)).toBe(words.join(''));
  });

  it('hands a keystroke to the kernel in the turn in which it is called', async () => {
    const file = join(folder(), 'got');
    const program = await sh(`printf ready; read -r word; printf "$word" >${file}`);
    await program.printed('ready');
    void program.terminal.write(Buffer.from('a key\n'));
    const patience = performance.now() + 10_000;
    while (contentOf(file) !== 'a key' && performance.now() < patience);
    expect(contentOf(file)).toBe('a key');
  });

  it('delivers a paste of 1 MiB whole to a program in raw mode', async () => {
    const file = join(folder(), 'pasted');
    const paste = Buffer.from(Array.from({ length: 1024 * 1024 }, (_, i) => (i * 31 + (i >> 8)) & 0xff));
    const program = await sh(`stty raw -echo; printf ready; exec head -c ${paste.length} >${file}`);
    await program.printed('ready');
    await program.terminal.write(paste);
    await program.exit;
    expect(readFileSync(file).equals(paste)).toBe(true);
  });

  it('delivers 200 KB of lines whole to a program in canonical mode', async () => {
    const file = join(folder(), 'lines');
    const lines = Array.from({ length: 4000 }, (_, i) => `line ${i} ${'x'.repeat(40)}\n`).join('');
    const program = await sh(`printf ready; exec cat >${file}`);
    await program.printed('ready');
    await program.terminal.write(Buffer.from(lines));
    await program.terminal.write(Buffer.from('\x04'));
    await program.exit;
    expect(readFileSync(file, 'latin1')).toBe(lines);
  });

  it('refuses what is more than may wait for a program that never reads, and keeps the event loop free', async () => {
    const program = await sh('stty raw -echo; printf ready; exec sleep 60');
    await program.printed('ready');
    const first = program.terminal.write(Buffer.alloc(MAX_UNWRITTEN_BYTES)).catch((error) => error);
    await expect(program.terminal.write(Buffer.alloc(MAX_UNWRITTEN_BYTES))).rejects.toMatchObject({
      name: 'TerminalError',
      failure: 'write',
      message: expect.stringContaining('the program does not read'),
    });
    const cpu = process.cpuUsage();
    await pass(500);
    const used = process.cpuUsage(cpu);
    expect(used.user + used.system).toBeLessThan(250_000);
    program.terminal.end(0);
    expect(await first).toMatchObject({ failure: 'ended' });
  });

  it('takes nothing for nothing', async () => {
    const program = await run(['cat']);
    await expect(program.terminal.write(new Uint8Array())).resolves.toBeUndefined();
  });
});

describe('pause', () => {
  it.runIf(linux)('makes the program wait, and resume lets it go on where it was', async () => {
    const file = join(folder(), 'progress');
    const program = await sh(`printf ready; read -r _; i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo "line $i"; echo $i >${file}; done`);
    await program.printed('ready');
    program.terminal.pause();
    await program.terminal.write(Buffer.from('\n'));
    await until(() => stateOf(program.terminal.pid) === 'S' && Number(contentOf(file)) > 100);
    const stuck = await settled(() => Number(contentOf(file)));
    expect(stuck).toBeLessThan(3000);
    expect(program.text()).toBe('ready');
    program.terminal.resume();
    await program.exit;
    expect(program.text()).toBe(`ready\r\n${Array.from({ length: 3000 }, (_, i) => `line ${i + 1}\r\n`).join('')}`);
  });
});

/** One letter, as in ps; empty when there is no such process. */
function stateOf(pid: number): string {
  try {
    return /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1] ?? '';
  } catch {
    return '';
  }
}

/** Empty when there is no such file yet. */
function contentOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** The value once it has stayed the same for a while. */
async function settled(value: () => number): Promise<number> {
  for (let before = value(), same = 0; ; before = value()) {
    await pass(20);
    same = value() === before ? same + 1 : 0;
    if (same === 10) return before;
  }
}
