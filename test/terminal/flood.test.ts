// A program that prints without end: read by a thread of its own, told as if it were not.
import { closeSync, openSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { MAX_JOINED_BYTES } from '../../src/terminal/coalesce.js';
import { FloodThread, type Lender } from '../../src/terminal/flood-thread.js';
import { forkPty } from '../../src/terminal/native-pty.js';
import { PtyReader } from '../../src/terminal/pty-reader.js';
import { command, pass, sh, until } from './real-pty.js';

/** What `seq` prints. */
const numbers = (from: number, to: number): string => Array.from({ length: to - from + 1 }, (_, i) => `${from + i}\n`).join('');

/** Enough for a flood many times over: some 4 MB. */
const MANY = 600_000;

describe('a flood', () => {
  it('comes whole and in order, with silences in it and however it is paused', async () => {
    const bursts = fc.array(fc.record({ lines: fc.integer({ min: 1, max: 300_000 }), silence: fc.integer({ min: 0, max: 30 }) }), {
      minLength: 1,
      maxLength: 3,
    });
    const pauses = fc.array(fc.record({ after: fc.integer({ min: 1, max: 900_000 }), ms: fc.integer({ min: 0, max: 20 }) }), {
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(bursts, pauses, async (parts, stops) => {
        const script = parts.map(({ lines, silence }) => `seq 1 ${lines}; sleep 0.${`${silence}`.padStart(3, '0')}`).join(';');
        const program = await sh(`stty raw; ${script}`);
        for (const { after, ms } of stops) {
          const length = program.bytes().length + after;
          await Promise.race([until(() => program.bytes().length >= length), program.exit]);
          program.terminal.pause();
          await pass(ms);
          program.terminal.resume();
        }
        await program.exit;
        return program.text() === parts.map(({ lines }) => numbers(1, lines)).join('');
      }),
      { numRuns: 12 },
    );
  });

  it('says nothing while it is paused, and goes on where it was', async () => {
    const program = await sh(`stty raw; seq 1 ${MANY}`);
    await until(() => program.bytes().length > 2_000_000);
    program.terminal.pause();
    // What was read before is still told.
    await pass(50);
    const { length } = program.bytes();
    await pass(100);
    expect(program.bytes().length).toBe(length);
    program.terminal.resume();
    await program.exit;
    expect(program.text() === numbers(1, MANY)).toBe(true);
  });

  it('is told whole before the exit when the program ends in the midst of it', async () => {
    const program = await sh(`stty raw; seq 1 ${MANY}; exit 3`);
    expect(await program.exit).toEqual({ code: 3, signal: null });
    expect(program.text() === numbers(1, MANY)).toBe(true);
    expect(program.events.at(-1)).toBe('exit');
  });

  it('takes what is typed, learns of a resize, and can be ended', async () => {
    const program = await sh('stty -echo; trap "stty size" WINCH; yes & read -r word; kill $!; echo "heard $word"; yes');
    await until(() => program.bytes().length > 2_000_000);
    await program.terminal.write(Buffer.from('hello\n'));
    await program.printed('heard hello');
    program.terminal.resize({ cols: 101, rows: 33 });
    program.terminal.end(0);
    expect((await program.exit).signal).toMatch(/SIGHUP|SIGKILL/);
  });

  it('ends once, after all that was printed, when the program is killed while it is paused', async () => {
    const program = await sh('stty raw; yes');
    await until(() => program.bytes().length > 2_000_000);
    program.terminal.pause();
    await pass(50);
    program.terminal.end(0);
    await program.exit;
    await pass(100);
    expect(program.events.indexOf('exit')).toBe(program.events.length - 1);
  });

  it('comes whole beside others', async () => {
    const programs = await Promise.all([1, 2, 3, 4].map(() => sh(`stty raw; seq 1 ${MANY}`)));
    await Promise.all(programs.map(({ exit }) => exit));
    for (const program of programs) expect(program.text() === numbers(1, MANY)).toBe(true);
  });
});

describe('the thread for floods', () => {
  it('reads a terminal while it floods, gives it back when there is no more, and reads it again', async () => {
    const read = startReading(new Counting(), 'stty raw; exec yes');
    for (let loans = 1; loans <= 2; loans++) {
      await until(() => read.thread.loans >= loans);
      process.kill(read.pid, 'SIGSTOP');
      await until(() => read.thread.lent === 0);
      process.kill(read.pid, 'SIGCONT');
    }
    expect(read.text()).toMatch(/^(y\n)+y?$/);
  });

  it('is not asked for by a program that prints little', async () => {
    const read = startReading(new Counting(), 'stty raw; seq 1 30000; exec cat');
    await until(() => read.length() === numbers(1, 30_000).length);
    expect(read.thread.loans).toBe(0);
  });

  it('has what it read told at once when the terminal is reclaimed, though it is paused', async () => {
    const thread = new Slow();
    const read = startReading(thread, `stty raw; seq 1 ${MANY}`);
    await until(() => thread.lender !== undefined);
    const before = read.text();
    read.reader.pause();
    expect(thread.lender?.block(Buffer.from('late'))).toBe(false);
    expect(read.text()).toBe(before);
    let isReclaimed = false;
    read.reader.reclaim(() => {
      isReclaimed = true;
    });
    expect([read.text(), isReclaimed]).toEqual([`${before}late`, false]);
    thread.lender?.returned(false);
    expect(isReclaimed).toBe(true);
  });

  it('is lent nothing once the terminal is reclaimed, though a flood was paused', async () => {
    const read = startReading(new Counting(), 'stty raw; yes');
    await until(() => read.thread.lent > 0 && read.length() > 2_000_000);
    read.reader.pause();
    await until(() => read.thread.lent === 0);
    let reclaims = 0;
    read.reader.reclaim(() => reclaims++);
    const [length, { loans }] = [read.length(), read.thread];
    read.reader.resume();
    await until(() => read.length() > length + 2_000_000);
    expect([read.thread.loans, reclaims]).toEqual([loans, 1]);
  });

  it('gives back as dry what has come to its end', async () => {
    const descriptor = openSync('/dev/null', 'r');
    onTestFinished(() => closeSync(descriptor));
    const isDry = await new Promise<boolean>((returned) => new FloodThread().lend(descriptor, { block: () => true, returned }));
    expect(isDry).toBe(true);
  });

  it('is done without when it ends by itself', async () => {
    const script = 'require("node:worker_threads").parentPort.on("message", () => process.exit(0))';
    const read = startReading(new Counting(() => new Worker(script, { eval: true })), `stty raw; seq 1 ${MANY}; exec cat`);
    await until(() => read.length() === numbers(1, MANY).length);
    expect(read.text() === numbers(1, MANY)).toBe(true);
  });

  it('is done without when it fails: the event loop reads on', async () => {
    const script = 'require("node:worker_threads").parentPort.on("message", () => { throw new Error("planted"); })';
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
    const read = startReading(new Counting(() => new Worker(script, { eval: true })), `stty raw; seq 1 ${MANY}; exec cat`);
    expect((await warned).message).toBe(
      'The thread that reads terminals which print much has failed, and what it had read is lost: planted',
    );
    await until(() => read.length() === numbers(1, MANY).length);
    expect(read.text() === numbers(1, MANY)).toBe(true);
  });

  it('is done without when it cannot be started', async () => {
    const thread = new Counting(() => {
      throw new Error('no thread left');
    });
    const read = startReading(thread, `stty raw; seq 1 ${MANY}; exec cat`);
    await until(() => read.length() === numbers(1, MANY).length);
    expect(read.text() === numbers(1, MANY)).toBe(true);
  });
});

/** Counts what is lent to it. */
class Counting extends FloodThread {
  loans = 0;
  lent = 0;

  override lend(descriptor: number, lender: Lender): void {
    this.loans++;
    this.lent++;
    super.lend(descriptor, {
      block: lender.block,
      returned: (isDry) => {
        this.lent--;
        lender.returned(isDry);
      },
    });
  }
}

/** Keeps what is lent to it until it is told. */
class Slow extends FloodThread {
  lender: Lender | undefined;

  override lend(_: number, lender: Lender): void {
    this.lender = lender;
  }
}

/** Reads what a script prints; it is ended with the test. */
function startReading<T extends FloodThread>(
  thread: T,
  script: string,
): { readonly thread: T; readonly reader: PtyReader; readonly pid: number; length(): number; text(): string } {
  const parts: Uint8Array[] = [];
  let piece = 0;
  let room = new Uint8Array(0);
  let died: () => void = () => {};
  const exit = new Promise<void>((resolve) => {
    died = resolve;
  });
  const { argv, env, cwd } = command(['/bin/sh', '-c', script]);
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const { master, pid } = forkPty(argv as [string, ...string[]], variables, cwd, { cols: 80, rows: 24 }, () => died());
  const reader = new PtyReader(
    master,
    {
      room: () => (room = new Uint8Array(4095)),
      filled(count) {
        parts.push(room.subarray(0, count));
        piece = piece >= MAX_JOINED_BYTES ? count : piece + count;
        return piece >= MAX_JOINED_BYTES;
      },
      block: (bytes) => parts.push(bytes),
      closed: () => {},
    },
    thread,
  );
  reader.resume();
  onTestFinished(async () => {
    process.kill(pid, 'SIGKILL');
    await exit;
    reader.reclaim(() => reader.destroy());
  });
  const length = () => parts.reduce((sum, { length }) => sum + length, 0);
  return { thread, reader, pid, length, text: () => Buffer.concat(parts).toString() };
}
