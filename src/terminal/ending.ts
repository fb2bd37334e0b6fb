// From the death of a process to the end of its output: exact where the kernel lets us set a mark, bounded where not. Knows no process.
import { writeSync } from 'node:fs';
import { makeMark, UntilMark } from './last-output.js';

/** Milliseconds between looks; what follows is counted in looks, so that a busy event loop gives the reader as many chances as an idle one. */
const LOOK_MS = 20;
/** Looks without output after which there is no more, if the mark cannot be set. */
const QUIET_LOOKS = 10;
/** Looks after which the end has come although a child that was left behind goes on printing. */
const LAST_LOOK = 100;
/** Looks during which a paused reader is waited for. */
const PAUSED_LOOKS = 100;

/** What the ending asks of its terminal. */
export interface Dying {
  /** Open beside the process's own, so that the kernel keeps what it printed. */
  readonly slave: number;
  paused(): boolean;
  resume(): void;
  output(bytes: Uint8Array): void;
  /** Called once; nothing follows. */
  ended(): void;
}

/**
 * The dead process printed all it had into the PTY, and we write a mark behind it: what is read before the mark is its output.
 * If the mark finds no room, the reader makes some. If it cannot be set at all (Ctrl-S has stopped the output, the PTY was hung up),
 * what the kernel has is read until it is quiet.
 */
export class Ending {
  readonly #terminal: Dying;
  readonly #mark = makeMark();
  readonly #output = new UntilMark(this.#mark);
  readonly #looking: NodeJS.Timeout;
  #marked = 0;
  #looks = 0;
  #quietLooks = 0;
  #pausedLooks = 0;
  #over = false;

  constructor(terminal: Dying) {
    this.#terminal = terminal;
    this.#looking = setInterval(() => this.#look(), LOOK_MS);
    this.#setMark();
  }

  /** The next bytes from the master. */
  read(bytes: Uint8Array): void {
    if (this.#over) return;
    this.#quietLooks = 0;
    this.#pass(this.#output.accept(bytes));
    if (this.#output.found) this.#end();
    else this.#setMark();
  }

  #look(): void {
    if (this.#terminal.paused()) {
      this.#pausedLooks++;
      if (this.#pausedLooks === PAUSED_LOOKS) this.#terminal.resume();
      return;
    }
    this.#looks++;
    this.#quietLooks++;
    this.#setMark();
    if (this.#quietLooks < QUIET_LOOKS && this.#looks < LAST_LOOK) return;
    this.#pass(this.#output.giveUp(this.#marked));
    this.#end();
  }

  #setMark(): void {
    if (this.#marked === this.#mark.length) return;
    try {
      this.#marked += writeSync(this.#terminal.slave, this.#mark, this.#marked);
    } catch {
      // No room, or hung up: tried again at the next read or look, and these are bounded.
    }
  }

  #pass(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#terminal.output(bytes);
  }

  #end(): void {
    this.#over = true;
    clearInterval(this.#looking);
    this.#terminal.ended();
  }
}
