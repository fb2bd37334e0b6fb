// What a terminal is: a process on a PTY (Terminal) and what it shows (Screen). Knows no client, no frame and no log.

/** Integers, 1…1024. */
export interface Size {
  readonly cols: number;
  readonly rows: number;
}

export interface Command extends Size {
  /** Program and arguments; at least the program. */
  readonly argv: readonly string[];
  readonly cwd: string;
  /** The child's whole environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** How a process ended: `code` is null when a signal ended it. */
export interface Exit {
  readonly code: number | null;
  /** Name, as `SIGKILL`; null when it exited by itself. */
  readonly signal: string | null;
}

export interface TerminalEvents {
  /** Raw bytes, coalesced: at once after silence, else at most 64 KiB or 4 ms. */
  output(bytes: Uint8Array): void;
  /** Once, after the last output. */
  exit(exit: Exit): void;
}

/**
 * What the program in the foreground does, as the kernel tells it: `reading` waits for somebody to type; `working` computes, sleeps, or waits
 * for a process of its own that does; `elsewhere` waits for anything but its terminal; `unknown` may be either.
 */
export type Activity = 'reading' | 'working' | 'elsewhere' | 'unknown';

export interface Terminal {
  readonly pid: number;
  /** Types bytes in the order of the calls. Resolves when the kernel has them; rejects with TerminalError `write` when they could not be delivered. */
  write(bytes: Uint8Array): Promise<void>;
  /** Of this moment. */
  activity(): Activity;
  /** Throws TerminalError `resize`. */
  resize(size: Size): void;
  /** Stops reading the PTY, so that the process waits. Bounded by the caller (I8). */
  pause(): void;
  resume(): void;
  /** Ends the process group: SIGHUP (and SIGCONT), then SIGKILL after `graceMs`. `exit` follows. */
  end(graceMs?: number): void;
}

/** Throws TerminalError `start` (in words that a person understands) if the command cannot be executed there. */
export type SpawnTerminal = (command: Command, events: TerminalEvents) => Promise<Terminal>;

/** `ended`: it takes no more input, and never will. */
export type TerminalFailure = 'start' | 'write' | 'ended' | 'resize';

export class TerminalError extends Error {
  override readonly name = 'TerminalError';
  readonly failure: TerminalFailure;
  constructor(failure: TerminalFailure, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.failure = failure;
  }
}

/** A screen as bytes: written to any terminal of that size, fresh or dirty, they give this screen (pty-ext §7.5, `vt100-screen-state-v1`). */
export interface Snapshot extends Size {
  readonly bytes: Uint8Array;
  /** The number of the last output or resize folded in; 0 if none. */
  readonly anchor: number;
}

/** A screen as text, for people and programs. */
export interface ScreenView extends Size {
  readonly sequence: number;
  /** Zero-based. */
  readonly cursor: { readonly row: number; readonly col: number; readonly visible: boolean };
  readonly title: string;
  /** `rows` of them, blanks at the end trimmed. */
  readonly lines: readonly string[];
}

/** Where a mark is set: at the cursor, at the beginning of the screen, or there because its own place is gone (`late`). */
export type MarkAt = 'cursor' | 'top' | 'late';

/** What was printed since the mark: lines as the screen shows them, joined where they were wrapped. */
export interface PrintedText {
  /** What has left the screen, from the unit numbered `from` (UTF-16) up to `until`. What is missing before `from` is not kept, or was not asked for. */
  readonly text: string;
  readonly from: number;
  readonly until: number;
  /** On the screen, above the line of the cursor; the first continues `text` if that does not end a line. Empty on the alternate screen. */
  readonly open: readonly string[];
  /** The line of the cursor and those below it, without blank ones at the end. */
  readonly rest: readonly string[];
  /** What stands before the mark in its line now, where that has changed: the program drew the line anew, in another place than it believed, say. */
  readonly replaced?: string;
  /** What was printed before is missing, and other text may be here instead. */
  readonly isLate: boolean;
}

/** How far somebody has read what was printed. */
export interface PrintedPlace {
  readonly fold: number;
  readonly until: number;
}

/** What a program shows that is typed to: for tasks. */
export interface Look extends ScreenView {
  /** The line of the cursor up to it. */
  readonly prompt: string;
  readonly onAlternate: boolean;
  readonly bracketedPaste: boolean;
  /** Absent without a mark. */
  readonly printed?: PrintedText;
  /** Which fold tells it: each counts what was printed for itself. */
  readonly fold: number;
}

/** One step of a screen's past. */
export type ScreenStep =
  | { readonly kind: 'snapshot'; readonly snapshot: Snapshot }
  | { readonly kind: 'output'; readonly sequence: number; readonly bytes: Uint8Array }
  | { readonly kind: 'resize'; readonly sequence: number; readonly size: Size };

export type Past = (upTo: number) => AsyncIterable<ScreenStep>;

/** The screen of one session: a fold over its steps. It works beside the stream, and nobody waits for it but who asks. */
export interface Screen {
  output(sequence: number, bytes: Uint8Array): void;
  resize(sequence: number, size: Size): void;
  /** The state after all steps given before this call. Rejects with ScreenUnavailable (hung, broken, being folded again for too long). */
  snapshot(): Promise<Snapshot>;
  /** As `snapshot`, for reading. */
  view(): Promise<ScreenView>;
  /** From here on (after all steps given before this call) what is printed is followed, instead of from an earlier mark. */
  mark(at: MarkAt): void;
  /** Nothing is followed any more. */
  unmark(): void;
  /** As `view`, for tasks; of what was printed, the part after `place`. */
  look(place?: PrintedPlace): Promise<Look>;
  /** Bytes of output given and not yet folded. */
  readonly backlog: number;
  dispose(): void;
}

export class ScreenUnavailable extends Error {
  override readonly name = 'ScreenUnavailable';
}

/** Where the answers of a screen to a program's queries go: each once, in the order of the output, however often it is folded. */
export interface Answering {
  /** Outputs up to this number are history: who asked in them is gone, or was answered. */
  readonly after: number;
  /** To be typed into the terminal; `sequence` is that of the output that asked. */
  answer(text: string, sequence: number): void;
}

/** Makes screens, in worker threads. */
export interface ScreenHost {
  /**
   * `past` yields the steps to fold when the emulator has to begin anew, up to all that was given so far: from the newest kept Keyframe on that
   * shows no more than the steps up to `upTo`, so that no query behind it is passed over, or the oldest if there is none.
   * Without `answering` the screen answers nothing. `name` is what an operator is told of it.
   */
  open(size: Size, past: Past, answering?: Answering, name?: string): Screen;
  /** Bytes of output given to all screens and not yet folded. Absent where nobody asks. */
  backlog?(): number;
  /** Screens that were given up, whose sessions go on without one. Absent where nobody asks. */
  lost?(): number;
  close(): Promise<void>;
}
