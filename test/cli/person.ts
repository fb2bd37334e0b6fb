// A person at a terminal who has typed a command of ours: a real PTY, and a real emulator to see it with. Knows no gateway.
import { fileURLToPath } from 'node:url';
import headless from '@xterm/headless';
import { type IPty, spawn } from 'node-pty';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** The command line as the tests run it. */
export const command = ['--import', 'tsx', `${root}src/main.ts`];

export interface PersonOptions {
  readonly cols?: number;
  readonly rows?: number;
  readonly env?: Record<string, string>;
  /** A shell line in which `$@` is the command, for pipes; without it the command runs by itself. */
  readonly line?: string;
}

export class Person {
  readonly #pty: IPty;
  readonly #terminal: InstanceType<typeof headless.Terminal>;
  /** All that was printed. */
  raw = '';
  #looked: () => void = () => {};
  /** Exit code, or 128 + signal. */
  readonly exit: Promise<number>;

  constructor(args: readonly string[], { cols = 80, rows = 24, env = {}, line }: PersonOptions = {}) {
    const words = [process.execPath, ...command, ...args];
    const [file = '', ...rest] = line === undefined ? words : ['/bin/sh', '-c', line, 'sh', ...words];
    this.#terminal = new headless.Terminal({ cols, rows, allowProposedApi: true, scrollback: 100 });
    this.#pty = spawn(file, rest, {
      cols,
      rows,
      cwd: root,
      env: { PATH: process.env.PATH ?? '', HOME: '/tmp', TERM: 'xterm-256color', ...env },
    });
    this.#pty.onData((data) => {
      this.raw += data;
      this.#terminal.write(data, () => this.#looked());
    });
    this.exit = new Promise((resolve) => this.#pty.onExit(({ exitCode, signal }) => resolve(signal ? 128 + signal : exitCode)));
  }

  get pid(): number {
    return this.#pty.pid;
  }

  types(text: string): void {
    this.#pty.write(text);
  }

  resizes(cols: number, rows: number): void {
    this.#terminal.resize(cols, rows);
    this.#pty.resize(cols, rows);
  }

  /** The rows of the window. */
  screen(): string[] {
    const { active } = this.#terminal.buffer;
    return Array.from({ length: this.#terminal.rows }, (_, row) => active.getLine(active.baseY + row)?.translateToString(true) ?? '');
  }

  get isInAlternateScreen(): boolean {
    return this.#terminal.buffer.active.type === 'alternate';
  }

  get modes() {
    return this.#terminal.modes;
  }

  /** Resolves when the window shows this. */
  async sees(text: string | RegExp): Promise<void> {
    const shows = () =>
      this.screen()
        .join('\n')
        .search(text instanceof RegExp ? text : escaped(text)) >= 0;
    while (!shows()) {
      await new Promise<void>((resolve) => {
        this.#looked = resolve;
      });
    }
  }

  /** Resolves when the window does not show this any more. */
  async seesNo(text: string): Promise<void> {
    while (this.screen().join('\n').includes(text)) {
      await new Promise<void>((resolve) => {
        this.#looked = resolve;
      });
    }
  }

  kill(signal = 'SIGKILL'): void {
    try {
      this.#pty.kill(signal);
    } catch {
      // It is gone already.
    }
  }
}

const escaped = (text: string) => new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
