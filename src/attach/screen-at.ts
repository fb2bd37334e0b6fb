// What a terminal has to be shown to stand where the session's stood at a place of the log. Knows no connection.
import type { LogReader, Numbered } from '../log/log.js';
import type { Frame, Resize } from '../protocol/frames.js';
import { entry } from '../protocol/make-frames.js';
import { LOOK_BACK_BYTES, LOOK_BACK_FRAMES } from './limits.js';
import { replay } from './replay.js';

type Size = Pick<Resize, 'cols' | 'rows'>;

/**
 * The newest Keyframe up to `place`, or the beginning with its size, and each Output and Resize from there on, up to and with `place`. Undefined where
 * the log does not hold that any more, or it is more than LOOK_BACK_FRAMES or LOOK_BACK_BYTES. Throws REPLAY_OUT_OF_RANGE as `replay` does.
 */
export async function screenAt(reader: LogReader, place: number, first: Size): Promise<readonly Frame[] | undefined> {
  const from = Math.max(reader.extent().oldest - 1, place - LOOK_BACK_FRAMES, 0);
  const drawing = new Drawing(from === 0 ? first : undefined);
  for await (const piece of replay(reader, from, place + 1)) for (const frame of piece) drawing.add(frame);
  return drawing.frames;
}

class Drawing {
  #frames: Frame[] | undefined;
  #bytes = 0;

  constructor(first: Size | undefined) {
    if (first) this.#frames = [{ ...entry('Resize', { cols: first.cols, rows: first.rows }), sequence: 0 }];
  }

  get frames(): readonly Frame[] | undefined {
    return this.#frames;
  }

  add(frame: Numbered): void {
    if (frame.kind === 'Keyframe') this.#begin(frame);
    else if (frame.kind === 'Output' || frame.kind === 'Resize') this.#goOn(frame);
  }

  #begin(keyframe: Frame): void {
    this.#frames = [keyframe];
    this.#bytes = keyframe.body.length;
  }

  #goOn(frame: Frame): void {
    this.#bytes += frame.body.length;
    if (this.#bytes > LOOK_BACK_BYTES) this.#frames = undefined;
    this.#frames?.push(frame);
  }
}
