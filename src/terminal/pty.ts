// A process on a PTY, as a Terminal: all that it prints, up to its exit, and all that is typed, in order. Knows no session and no screen.
import { closeSync, constants as files, openSync } from 'node:fs';
import { constants as system } from 'node:os';
import { Coalescer } from './coalesce.js';
import { Ending } from './ending.js';
import { floods } from './flood-thread.js';
import { type Forked, forkPty, resizePty } from './native-pty.js';
import { groupsOf, signalGroups, signalProcess } from './process-group.js';
import { PtyReader } from './pty-reader.js';
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
  readonly #reader: PtyReader;
  readonly #writer: PtyWriter;
  readonly #coalescer: Coalescer;
  #hasDied = false;
  /** From when the process has died and all is read here. */
  #ending: Ending | undefined;
  /** Whether `#master` is still ours. */
  #open = true;
  #kill: NodeJS.Timeout | undefined;

  constructor(forked: Forked, slave: number, events: TerminalEvents) {
    this.pid = forked.pid;
    this.#master = forked.master;
    this.#events = events;
    this.#coalescer = new Coalescer((bytes) => events.output(bytes));
    this.#writer = new PtyWriter(forked.master);
    this.#slave = slave;
    this.#tty = forked.slaveName;
    this.#reader = new PtyReader(forked.master, {
      room: () => this.#coalescer.room(),
      filled: (count, room) => this.#filled(count, room),
      block: (bytes) => events.output(bytes),
      closed: () => this.#hungUp(),
    });
    this.#reader.resume();
  }

  write(bytes: Uint8Array): Promise<void> {
    this.#coalescer.hurry();
    floods.hurry();
    return this.#writer.write(bytes);
  }

  /** One that has died works until its end is told. */
  activity(): Activity {
    return this.#hasDied && this.#open ? 'working' : activityOf(this.pid, this.#tty);
  }

  resize({ cols, rows }: Size): void {
    if (this.#hasDied || !this.#open) throw new TerminalError('resize', 'the process has ended');
    try {
      resizePty(this.#master, cols, rows);
    } catch (cause) {
      throw new TerminalError('resize', `the terminal cannot be made ${cols} columns by ${rows} rows`, { cause });
    }
  }

  pause(): void {
    this.#reader.pause();
  }

  resume(): void {
    this.#reader.resume();
  }

  end(graceMs: number = GRACE_MS): void {
    if (this.#hasDied) return;
    const groups = groupsOf(this.pid);
    this.#signal(groups, 'SIGHUP');
    this.#signal(groups, 'SIGCONT');
    clearTimeout(this.#kill);
    this.#kill = setTimeout(() => this.#signal(this.#hasDied ? groups : groupsOf(this.pid), 'SIGKILL'), graceMs);
  }

  #signal(groups: readonly number[], signal: NodeJS.Signals): void {
    if (!this.#hasDied) signalProcess(this.pid, signal);
    signalGroups(this.pid, groups, signal);
  }

  #filled(count: number, room: Uint8Array): boolean {
    if (!this.#ending) return this.#coalescer.filled(count);
    this.#ending.read(room.subarray(0, count));
    return false;
  }

  /** The PTY cannot be read any more, and its descriptor is no longer ours. A process that lives on without it is ended. */
  #hungUp(): void {
    this.#open = false;
    this.#writer.close(new TerminalError('ended', 'the terminal was hung up'));
    this.end();
  }

  /** The process is reaped, and its output is in the kernel, with the thread for floods, or here. */
  died(exit: Exit): void {
    this.#hasDied = true;
    this.#writer.close(new TerminalError('ended', 'the process has ended'));
    this.#kill?.unref();
    this.#reader.reclaim(() => this.#readLast(exit));
  }

  #readLast(exit: Exit): void {
    this.#coalescer.close();
    this.#ending = new Ending({
      slave: this.#slave,
      paused: () => this.#reader.isPaused,
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
