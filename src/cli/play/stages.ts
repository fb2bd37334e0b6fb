// Where a recording is played: a window of a person, or a stream that gets the output as it is. Knows no recording.
import type { Stage } from '../../playback/player.js';
import type { Size } from '../../playback/recording.js';
import type { Display } from '../display.js';

/** Bytes that may wait for a slow terminal or pipe before time stands still. */
const BUSY_BYTES = 256 * 1024;
const BLANK = new TextEncoder().encode('\x18\x1bc');

/** Shows as much of the screen as the window has room for. */
export function windowStage(display: Display, stdout: NodeJS.WriteStream): Stage {
  const picture = (snapshot: Uint8Array, size: Size) => display.picture({ ...size, snapshot, sequence: 0, anchor: 0, afterReplay: false });
  return {
    blank: (size) => picture(BLANK, size),
    picture,
    output: (bytes) => display.output(bytes),
    resize: (size) => display.sessionResized(size),
    get isBusy() {
      return stdout.writableLength > BUSY_BYTES;
    },
  };
}

/** Bytes alone: a screen begins with a picture, or with nothing. */
export function rawStage(stdout: NodeJS.WriteStream): Stage {
  return {
    blank: () => {},
    picture: (bytes) => void stdout.write(bytes),
    output: (bytes) => void stdout.write(bytes),
    resize: () => {},
    get isBusy() {
      return stdout.writableLength > BUSY_BYTES;
    },
  };
}
