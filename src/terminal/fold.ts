// The fold of one stream: bytes and sizes in, snapshots and views out, in order and at once. Knows no thread and no session.
import { StringDecoder } from 'node:string_decoder';
import { answerQueries } from './answers.js';
import { Cut } from './cut.js';
import { Emulator } from './emulator.js';
import { Guard } from './guard.js';
import { textBeforeCursor } from './lines.js';
import { scrolledAway } from './scrolled-away.js';
import { SinceMark } from './since-mark.js';
import { snapshotOf } from './snapshot.js';
import type { Look, MarkAt, ScreenView, Size, Snapshot } from './terminal.js';

/** Throws what the emulator throws; it is of no use after that. */
export class Fold {
  readonly #emulator: Emulator;
  readonly #guard = new Guard();
  readonly #cut = new Cut();
  // One for the whole stream, so that a character may lie in two chunks.
  readonly #utf8 = new StringDecoder('utf8');
  #size: Size;
  #anchor = 0;
  #sinceMark: SinceMark | undefined;

  /** `reply` is called, while bytes are folded, with what the terminal answers to the queries in them; without it, it is silent. */
  constructor(size: Size, reply?: (text: string) => void) {
    this.#size = size;
    this.#emulator = new Emulator(size);
    if (reply) answerQueries({ emulator: this.#emulator, size: () => this.#size }, reply);
  }

  /** A fold that begins with a snapshot instead of an empty screen. */
  static from(snapshot: Snapshot): Fold {
    const fold = new Fold(snapshot);
    fold.output(snapshot.anchor, snapshot.bytes);
    return fold;
  }

  /** What the steps have led to, to be looked at. */
  get emulator(): Emulator {
    return this.#emulator;
  }

  /** The number of the last step folded in whole. */
  get anchor(): number {
    return this.#anchor;
  }

  /** A piece of an output; `sequence` is noted with the last piece. */
  output(sequence: number, bytes: Uint8Array): void {
    this.piece(bytes);
    this.#anchor = sequence;
  }

  piece(bytes: Uint8Array): void {
    const seen = this.#guard.pass(bytes);
    this.#cut.push(bytes);
    this.#emulator.write(this.#utf8.write(Buffer.from(seen.buffer, seen.byteOffset, seen.byteLength)));
  }

  /**
   * Leaves out what the rest of these bytes pushes off the screen, as if it had been folded. `left` bytes were left out, and up to `searched`
   * there is nothing more of that kind. While what is printed is followed, all of it is folded.
   */
  leaveOut(bytes: Uint8Array): { readonly left: number; readonly searched: number } {
    const { active, rows } = this.#emulator;
    const scrollsWhole = active.scrollTop === 0 && active.scrollBottom === rows - 1;
    if (this.#sinceMark || !scrollsWhole || !this.#cut.isWhole) return { left: 0, searched: 0 };
    const { end, pen, searched } = scrolledAway(bytes, rows);
    if (end > 0) this.#emulator.write(`\x1b[${rows};1H${Buffer.from(pen).toString('latin1')}`);
    return { left: end, searched };
  }

  resize(sequence: number, size: Size): void {
    this.#emulator.resize(size);
    this.#size = size;
    this.#anchor = sequence;
  }

  snapshot(): Snapshot {
    const screen = Buffer.from(snapshotOf(this.#emulator));
    const bytes = new Uint8Array(Buffer.concat([screen, this.#cut.unfinished]));
    return { bytes, cols: this.#size.cols, rows: this.#size.rows, anchor: this.#anchor };
  }

  view(): ScreenView {
    const { active, core, title } = this.#emulator;
    const { cols, rows } = this.#size;
    const lines = Array.from({ length: rows }, (_, y) => this.#emulator.line(active, y).translateToString(true, 0, cols).trimEnd());
    const cursor = { row: active.y, col: Math.min(active.x, cols - 1), visible: !core.coreService.isCursorHidden };
    return { cols, rows, sequence: this.#anchor, cursor, title: title ?? '', lines };
  }

  /** From here on what is printed is followed. */
  mark(at: MarkAt): void {
    this.#sinceMark = new SinceMark(this.#emulator, at);
  }

  unmark(): void {
    this.#sinceMark = undefined;
    this.#emulator.witness = undefined;
  }

  /** `after`: a unit of what was printed, all before which is known to who asks. */
  look(after: number): Omit<Look, 'fold'> {
    const { active, alternate, core } = this.#emulator;
    return {
      ...this.view(),
      prompt: textBeforeCursor(this.#emulator, active),
      onAlternate: active === alternate,
      bracketedPaste: core.coreService.decPrivateModes.bracketedPasteMode,
      ...(this.#sinceMark && { printed: this.#sinceMark.tell(after) }),
    };
  }

  dispose(): void {
    this.#emulator.dispose();
  }
}
