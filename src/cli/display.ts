// Where a session is shown: what an attachment asks of it, and the plain one, for a stdout that is a file or a pipe. Knows no client.
import type { Picture, Size } from '../client/node.js';
import type { LocalTerminal } from './local-terminal.js';
import type { Pan } from './panning.js';

/** A line for the person: of `text`, as much is shown as there is room for; `tail` is shown in any case. */
export interface Line {
  readonly text: string;
  readonly tail?: string | undefined;
}

export interface Display {
  output(bytes: Uint8Array): void;
  picture(picture: Picture): void;
  /** The session has this size now. */
  sessionResized(size: Size): void;
  windowResized(): void;
  /** Shows another part of what there is no room for; undefined: the part around the cursor again. */
  pan(pan: Pan | undefined): void;
  /** Something else has written on the terminal. */
  repaint(): void;
  /** Shows a line instead of the one before; none takes it away. */
  line(line: Line | undefined): void;
  /** Gives the terminal back for a while; `repaint` shows the session again once it is taken over. */
  suspend(): void;
  /** Shows the last that there is, and gives the terminal back. */
  close(): void;
}

export const joined = ({ text, tail }: Line): string => (tail === undefined ? text : `${text}; ${tail}`);

/** Gives the output as it is, with no picture and no size; lines go to stderr, each text once while only its tail changes. */
export class PlainDisplay implements Display {
  readonly #terminal: LocalTerminal;
  #said: string | undefined;

  constructor(terminal: LocalTerminal) {
    this.#terminal = terminal;
  }

  output(bytes: Uint8Array): void {
    this.#terminal.open();
    this.#terminal.write(bytes);
  }

  line(line: Line | undefined): void {
    if (line && line.text !== this.#said) this.#terminal.say(joined(line));
    this.#said = line?.text;
  }

  picture(): void {}
  sessionResized(): void {}
  windowResized(): void {}
  pan(): void {}
  repaint(): void {}

  suspend(): void {
    this.#terminal.close();
  }

  close(): void {
    this.#terminal.close();
  }
}
