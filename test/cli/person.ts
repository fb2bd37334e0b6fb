// A person at a terminal who has typed a command of ours: a real PTY, and a real emulator to see it with. Knows no gateway.
import { resolve } from 'node:path';
import headless from '@xterm/headless';
import { type IPty, spawn } from 'node-pty';

/** After so long, in milliseconds, what is waited for is not to come. */
const PATIENCE_MS = 20_000;
/** The command line, as it is built: `dist`, or what PTY_GATEWAY_DIST names. */
export const command = resolve(process.env.PTY_GATEWAY_DIST ?? 'dist', 'src/main.js');

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
    const words = [process.execPath, command, ...args];
    const [file = '', ...rest] = line === undefined ? words : ['/bin/sh', '-c', line, 'sh', ...words];
    this.#terminal = new headless.Terminal({ cols, rows, allowProposedApi: true, scrollback: 100 });
    this.#pty = spawn(file, rest, {
      cols,
      rows,
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

  /** Resolves when the window shows this; rejects with what it shows after a while. */
  sees(text: string | RegExp): Promise<void> {
    const pattern = text instanceof RegExp ? text : escaped(text);
    return this.#until((screen) => pattern.test(screen), `to see ${pattern}`);
  }

  /** Resolves when the window does not show this any more. */
  seesNo(text: string): Promise<void> {
    return this.#until((screen) => !screen.includes(text), `not to see ${text}`);
  }

  async #until(wanted: (screen: string) => boolean, what: string): Promise<void> {
    const late = setTimeout(() => {
      failed = new Error(`expected ${what}; the window shows:\n${this.screen().join('\n').trimEnd()}`);
      this.#looked();
    }, PATIENCE_MS);
    let failed: Error | undefined;
    while (!wanted(this.screen().join('\n')) && !failed) {
      await new Promise<void>((resolve) => {
        this.#looked = resolve;
      });
    }
    clearTimeout(late);
    if (failed) throw failed;
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
