// A process on a PTY, as a Terminal: all that it prints, up to its exit, and all that is typed, in order. Knows no session and no screen.
import { closeSync, constants as files, openSync } from 'node:fs';
import type { ConnectOpts, OnReadOpts, SocketConstructorOpts } from 'node:net';
import { constants as system } from 'node:os';
import { ReadStream } from 'node:tty';
import { Coalescer } from './coalesce.js';
import { Ending } from './ending.js';
import { type Forked, forkPty, resizePty } from './native-pty.js';
import { groupsOf, signalGroups, signalProcess } from './process-group.js';
import { PtyWriter } from './pty-writer.js';
import { checkStartable } from './startable.js';
import {
  type Activity,
  type Command,
  type Exit,
  type Size,
  type SpawnTerminal,
  type Terminal,
  TerminalError,
  type TerminalEvents,
} from './terminal.js';
import { activityOf } from './waiting.js';

/** Milliseconds between SIGHUP and SIGKILL, unless the caller says otherwise. */
const GRACE_MS = 2_000;

/**
 * Starts `command` on a new PTY. Its environment is `command.env` and PWD; it leads its own session and has no other descriptor than the PTY.
 * No event comes before the promise is resolved. Throws TerminalError `start` before there is a process if it cannot be executed.
 */
export const spawnTerminal: SpawnTerminal = async (command, events) => {
  await checkStartable(command);
  let terminal: PtyTerminal | undefined;
  const forked = fork(command, (exit) => terminal?.died(exit));
  terminal = new PtyTerminal(forked, holdOpen(forked), events);
  return terminal;
};

class PtyTerminal implements Terminal {
  readonly pid: number;
  readonly #events: TerminalEvents;
  readonly #master: number;
  readonly #slave: number;
  readonly #tty: string;
  readonly #reader: ReadStream;
  readonly #writer: PtyWriter;
  readonly #coalescer: Coalescer;
  /** Set when the process has died. */
  #ending: Ending | undefined;
  /** Whether `#master` is still ours. */
  #open = true;
  #paused = false;
  #kill: NodeJS.Timeout | undefined;

  constructor(forked: Forked, slave: number, events: TerminalEvents) {
    this.pid = forked.pid;
    this.#master = forked.master;
    this.#events = events;
    this.#coalescer = new Coalescer((bytes) => events.output(bytes));
    this.#writer = new PtyWriter(forked.master);
    this.#slave = slave;
    this.#tty = forked.slaveName;
    this.#reader = readInto(forked.master, () => this.#coalescer.room(), this.#filled);
    this.#reader.once('close', () => this.#hungUp());
    this.#reader.resume();
  }

  write(bytes: Uint8Array): Promise<void> {
    this.#coalescer.hurry();
    return this.#writer.write(bytes);
  }

  /** One that has died works until its end is told. */
  activity(): Activity {
    return this.#ending && this.#open ? 'working' : activityOf(this.pid, this.#tty);
  }

  resize({ cols, rows }: Size): void {
    if (this.#ending || !this.#open) throw new TerminalError('resize', 'the process has ended');
    try {
      resizePty(this.#master, cols, rows);
    } catch (cause) {
      throw new TerminalError('resize', `the terminal cannot be made ${cols} columns by ${rows} rows`, { cause });
    }
  }

  pause(): void {
    this.#paused = true;
    this.#reader.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#reader.resume();
  }

  end(graceMs: number = GRACE_MS): void {
    if (this.#ending) return;
    const groups = groupsOf(this.pid);
    this.#signal(groups, 'SIGHUP');
    this.#signal(groups, 'SIGCONT');
    clearTimeout(this.#kill);
    this.#kill = setTimeout(() => this.#signal(this.#ending ? groups : groupsOf(this.pid), 'SIGKILL'), graceMs);
  }

  #signal(groups: readonly number[], signal: NodeJS.Signals): void {
    if (!this.#ending) signalProcess(this.pid, signal);
    signalGroups(this.pid, groups, signal);
  }

  /** False: nothing more is read in this turn of the event loop, so that others have theirs between two pieces of a flood. */
  readonly #filled = (count: number, room: Uint8Array): boolean => {
    if (this.#ending) this.#ending.read(room.subarray(0, count));
    else if (this.#coalescer.filled(count)) {
      setImmediate(() => !this.#paused && this.#open && this.#reader.resume());
      return false;
    }
    return true;
  };

  /** The PTY cannot be read any more, and its descriptor is no longer ours. A process that lives on without it is ended. */
  #hungUp(): void {
    this.#open = false;
    this.#writer.close(new TerminalError('ended', 'the terminal was hung up'));
    this.end();
  }

  /** The process is reaped, and its output is in the kernel or here. */
  died(exit: Exit): void {
    this.#writer.close(new TerminalError('ended', 'the process has ended'));
    this.#coalescer.close();
    this.#kill?.unref();
    this.#ending = new Ending({
      slave: this.#slave,
      paused: () => this.#paused,
      resume: () => this.resume(),
      output: (bytes) => this.#events.output(bytes),
      ended: () => this.#close(exit),
    });
  }

  #close(exit: Exit): void {
    this.#open = false;
    this.#reader.destroy();
    closeSync(this.#slave);
    this.#events.exit(exit);
  }
}

function fork(command: Command, died: (exit: Exit) => void): Forked {
  const env = Object.entries({ ...command.env, PWD: command.cwd }).map(([name, value]) => `${name}=${value}`);
  const [program = '', ...args] = command.argv;
  try {
    return forkPty([program, ...args], env, command.cwd, command, (code, signal) => died(exitOf(code, signal)));
  } catch (cause) {
    throw new TerminalError('start', 'the system has no process or terminal left for this', { cause });
  }
}

/** The slave, held open until all is read: the kernel drops what is unread when its last holder goes. */
function holdOpen({ master, pid, slaveName }: Forked): number {
  try {
    return openSync(slaveName, files.O_RDWR | files.O_NOCTTY | files.O_NONBLOCK);
  } catch (cause) {
    signalProcess(pid, 'SIGKILL');
    closeSync(master);
    throw new TerminalError('start', 'the gateway has no descriptor left for this terminal', { cause });
  }
}

/** Reads `master` into what `room` offers, and closes it when it is destroyed or fails. */
function readInto(master: number, room: () => Uint8Array, filled: OnReadOpts['callback']): ReadStream {
  const options: SocketConstructorOpts & Pick<ConnectOpts, 'onread'> = { onread: { buffer: room, callback: filled } };
  const reader = new ReadStream(master, options);
  return reader.on('error', () => reader.destroy());
}

// Of two names for one signal the first is the usual one (SIGABRT, SIGIOT): it is set last, and stays.
const signalNames = new Map(
  Object.entries(system.signals)
    .reverse()
    .map(([name, number]) => [number as number, name]),
);

function exitOf(code: number, signal: number): Exit {
  if (signal === 0) return { code, signal: null };
  return { code: null, signal: signalNames.get(signal) ?? `SIG${signal}` };
}
