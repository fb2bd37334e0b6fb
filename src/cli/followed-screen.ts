// The screen of a session that was joined, kept up to date here. Knows no command.
import type { TerminalClient } from '../client/node.js';
import { Fold } from '../terminal/fold.js';

/** Before the session says what size it has. */
const ANY_SIZE = { cols: 80, rows: 24 };

export class FollowedScreen {
  #fold = new Fold(ANY_SIZE);
  readonly #undo: ReadonlyArray<() => void>;

  /** `changed` is called after each change, with the number of the frame. */
  constructor(client: TerminalClient, changed: (sequence: number) => void = () => {}) {
    this.#undo = [
      client.on('resize', (size) => this.#fold.resize(0, size)),
      client.on('keyframe', ({ snapshot, sequence }) => this.#take(client, snapshot, sequence, changed)),
      client.on('output', (bytes, sequence) => this.#take(client, bytes, sequence, changed)),
    ];
  }

  /** The rows, without blanks at their ends; behind them, that of the cursor as far as the cursor: a prompt has a blank at its end. */
  get lines(): readonly string[] {
    const { lines, cursor } = this.#fold.view();
    return [...lines, (lines[cursor.row] ?? '').padEnd(cursor.col).slice(0, cursor.col)];
  }

  /** Whether the program wants the other sequences of the arrow keys (DECCKM). */
  get isApplication(): boolean {
    return this.#fold.emulator.core.coreService.decPrivateModes.applicationCursorKeys;
  }

  stop(): void {
    for (const undo of this.#undo) undo();
  }

  /** A fold that has failed is of no use any more: it begins anew, with a picture that is asked for. */
  #take(client: TerminalClient, bytes: Uint8Array, sequence: number, changed: (sequence: number) => void): void {
    try {
      this.#fold.piece(bytes);
    } catch {
      this.#fold = new Fold(client.size ?? ANY_SIZE);
      client.requestKeyframe();
    }
    changed(sequence);
  }
}
