// The one ordered queue into the terminal: bytes, and steps between them. Knows no connection.
import type { Terminal } from '@xterm/xterm';

/** Bytes that may wait for the terminal. Beyond that, output is passed over until a Keyframe: the browser cannot slow a WebSocket down. */
const MAX_BACKLOG_BYTES = 8 * 1024 * 1024;

export interface Writes {
  output(bytes: Uint8Array): void;
  keyframe(bytes: Uint8Array): void;
  /** Runs after all that was written before, and before all that is written after. */
  after(step: () => void): void;
  /** Bytes that wait for the terminal. */
  backlog(): number;
}

/**
 * The decoder is ours: a character that was cut between two frames is put together again, and a Keyframe begins with a fresh one, since it
 * ends with the unfinished bytes itself (pty-ext §7.5). `fellBehind` is called once the terminal has worked off what it could hold, and
 * needs a Keyframe to go on.
 */
export function createWrites(terminal: Terminal, fellBehind: () => void): Writes {
  const newDecoder = () => new TextDecoder('utf-8', { ignoreBOM: true });
  let decoder = newDecoder();
  let backlog = 0;
  let passingOver = false;

  const parsed = (bytes: number) => {
    backlog -= bytes;
    if (backlog === 0 && passingOver) fellBehind();
  };
  const write = (bytes: Uint8Array) => {
    backlog += bytes.length;
    terminal.write(decoder.decode(bytes, { stream: true }), () => parsed(bytes.length));
  };
  return {
    output(bytes) {
      passingOver ||= backlog > MAX_BACKLOG_BYTES;
      if (!passingOver) write(bytes);
    },
    keyframe(bytes) {
      decoder = newDecoder();
      passingOver = false;
      write(bytes);
    },
    after(step) {
      terminal.write('', () => {
        parsed(0);
        step();
      });
    },
    backlog: () => backlog,
  };
}
