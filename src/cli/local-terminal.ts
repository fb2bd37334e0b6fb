// The terminal in front of a person: raw while attached, as it was afterwards whatever happens. Knows no session.
import type { ReadStream, WriteStream } from 'node:tty';
import type { Size } from '../client/node.js';
import { TtyOutput } from './tty-output.js';

/** Undoes what programs turn on and leave: margins, origin, insert, keypad, mouse, focus, paste, keyboard protocols, pen, charset, cursor. */
const RESET =
  '\x1b7\x1b[?6l\x1b[r\x1b8\x1b[4l\x1b[?1l\x1b>\x1b[?7h' +
  '\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l\x1b[?1004l\x1b[?2004l\x1b[?2026l' +
  '\x1b[=0u\x1b[>4;0m\x1b(B\x0f\x1b[0m\x1b[0"q\x1b[?5l\x1b[0 q\x1b[?25h';
const LEAVE_ALTERNATE = '\x1b[?1049l';
/** Where the terminal can: its title is put aside, and taken back. */
const SAVE_TITLE = '\x1b[22;0t';
const RESTORE_TITLE = '\x1b[23;0t';
/** The palette, foreground, background and cursor as the terminal's own settings have them. */
const RESET_COLORS = [104, 110, 111, 112].map((code) => `\x1b]${code}\x1b\\`).join('');
const ESC = '\x1b';
const MODES = new RegExp(`${ESC}\\[\\?([\\d;]*)([hl])`, 'g');
const COLORS = new RegExp(`${ESC}\\](?:4|1[0-2]);`);
/** An unfinished sequence is looked at again with what follows it, up to so many bytes. */
const TAIL_BYTES = 32;

export interface Streams {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream & { readonly fd?: number };
  readonly stderr: NodeJS.WriteStream;
}

export class LocalTerminal {
  readonly #keyboard: ReadStream | undefined;
  readonly #screen: WriteStream | undefined;
  readonly #output: TtyOutput | undefined;
  readonly #streams: Streams;
  #inAlternate = false;
  /** Whether what was written has changed its colours. */
  #colored = false;
  #tail = '';
  #isOpen = false;
  readonly #restore = () => this.close();

  constructor(streams: Streams) {
    this.#streams = streams;
    this.#keyboard = streams.stdin.isTTY ? streams.stdin : undefined;
    this.#screen = streams.stdout.isTTY ? streams.stdout : undefined;
    this.#output = this.#screen && new TtyOutput(streams.stdout.fd ?? 1);
  }

  /** Whether there is one to show things on: else stdout is a file or a pipe and gets the output as it is. */
  get isScreen(): boolean {
    return this.#screen !== undefined;
  }

  get isKeyboard(): boolean {
    return this.#keyboard !== undefined;
  }

  get size(): Size | undefined {
    return this.#screen && { cols: this.#screen.columns, rows: this.#screen.rows };
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether it shows its alternate screen. */
  get isInAlternate(): boolean {
    return this.#inAlternate;
  }

  /** Takes the terminal over; what it shows is scrolled up, not painted over. May be called again. */
  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    process.on('exit', this.#restore);
    this.#output?.leaveAlone();
    this.#keyboard?.setRawMode(true);
    this.#output?.leaveAlone();
    if (this.size) this.#streams.stdout.write(`${SAVE_TITLE}${'\n'.repeat(this.size.rows)}\x1b[H`);
  }

  /** After a stop and a continue the shell has set it otherwise, of which Node knows nothing: raw once more would be nothing to do. */
  reopen(): void {
    if (!this.#isOpen) return;
    this.#keyboard?.setRawMode(false);
    this.#keyboard?.setRawMode(true);
    this.#output?.leaveAlone();
  }

  write(bytes: Uint8Array): void {
    if (this.#screen) this.#watch(bytes);
    this.#streams.stdout.write(bytes);
  }

  /** A line for the person, to stay. */
  say(text: string): void {
    this.#streams.stderr.write(`[pty-gateway] ${text}${this.#isOpen && this.#screen ? '\r\n' : '\n'}`);
  }

  /**
   * Gives the terminal back; what the session showed stays above, down to `lastRow` (from 0; all of it if that is not known). May be called again, and
   * while the process ends.
   */
  close(lastRow?: number): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    process.off('exit', this.#restore);
    const { rows } = this.#screen ?? { rows: 0 };
    const row = Math.min(lastRow === undefined || this.#inAlternate ? rows : lastRow + 1, rows);
    const leave = this.#inAlternate ? LEAVE_ALTERNATE : '';
    const colors = this.#colored ? RESET_COLORS : '';
    if (this.#screen) this.#streams.stdout.write(`${leave}${RESET}${colors}${RESTORE_TITLE}\x1b[${row};1H\r\n`);
    this.#inAlternate = false;
    this.#colored = false;
    this.#keyboard?.setRawMode(false);
    this.#output?.restore();
  }

  #watch(bytes: Uint8Array): void {
    const text = this.#tail + Buffer.from(bytes).toString('latin1');
    for (const [, modes = '', set] of text.matchAll(MODES)) {
      if (modes.split(';').some((mode) => ['47', '1047', '1049'].includes(mode))) this.#inAlternate = set === 'h';
    }
    this.#colored ||= COLORS.test(text);
    const unfinished = text.lastIndexOf('\x1b');
    this.#tail = unfinished >= text.length - TAIL_BYTES && unfinished >= 0 ? text.slice(unfinished) : '';
  }
}
