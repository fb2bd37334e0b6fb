// A person's shell in a window of tmux, in which the command line is `pty-gateway`: what they type, and what the window shows and has shown. Knows no gateway.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import { command } from './person.js';

/** Milliseconds for which a sight is waited for, and between two looks. */
const PATIENCE_MS = 20_000;
const LOOK_MS = 40;
/** What a program may set in a terminal and leave behind. */
const MODES = [
  ...['alternate_on', 'cursor_flag', 'insert_flag', 'keypad_cursor_flag', 'keypad_flag', 'mouse_any_flag', 'mouse_sgr_flag', 'origin_flag'],
  ...['wrap_flag', 'scroll_region_upper', 'pane_title'],
];

/** `ended` says how the command before it ended, and whether the terminal is set as `stty -g >before` found it. */
const RC = `
PS1='sh> '
pty-gateway() { '${process.execPath}' '${command}' "$@"; }
ended() { echo "code $?"; stty -g | cmp before && echo as before; }
`;

export class TmuxWindow {
  readonly #socket = `shell-${process.pid}-${Math.random().toString(36).slice(2)}`;
  readonly #env: Readonly<Record<string, string>>;
  /** Where the shell is; gone with the window. */
  readonly folder = mkdtempSync(path.join(tmpdir(), 'tmux-'));

  constructor(env: Readonly<Record<string, string>>, { cols = 80, rows = 24 } = {}) {
    const rc = path.join(this.folder, 'rc');
    writeFileSync(rc, RC);
    this.#env = { PATH: process.env.PATH ?? '', HOME: this.folder, LANG: 'C.UTF-8', TERM: 'xterm-256color', ...env };
    const shell = ['/bin/bash', '--noprofile', '--rcfile', rc, '-i'];
    this.#tmux('new-session', '-d', '-x', `${cols}`, '-y', `${rows}`, '-c', this.folder, ...shell);
  }

  /** Types a line, and Enter. */
  types(line: string): void {
    this.#tmux('send-keys', '-l', `${line}\r`);
  }

  /** Keys by tmux's names for them, as `C-]`. */
  presses(...keys: readonly string[]): void {
    this.#tmux('send-keys', ...keys);
  }

  resizes(cols: number, rows: number): void {
    this.#tmux('resize-window', '-x', `${cols}`, '-y', `${rows}`);
  }

  /** What it shows. */
  screen(): string {
    return this.#tmux('capture-pane', '-p');
  }

  /** What it shows, and all that has scrolled away above. */
  history(): string {
    return this.#tmux('capture-pane', '-p', '-S', '-');
  }

  /** How the terminal is set. */
  modes(): string {
    return this.#tmux('display-message', '-p', MODES.map((mode) => `${mode}=#{${mode}}`).join(' '));
  }

  async sees(words: RegExp): Promise<void> {
    await expect.poll(() => this.screen(), { timeout: PATIENCE_MS, interval: LOOK_MS }).toMatch(words);
  }

  async seesNo(words: RegExp): Promise<void> {
    await expect.poll(() => this.screen(), { timeout: PATIENCE_MS, interval: LOOK_MS }).not.toMatch(words);
  }

  close(): void {
    this.#tmux('kill-server');
    rmSync(this.folder, { recursive: true, force: true });
  }

  #tmux(...args: readonly string[]): string {
    return execFileSync('tmux', ['-L', this.#socket, '-f', '/dev/null', ...args], { encoding: 'utf8', env: this.#env });
  }
}
