// The past of a session, read from its log in bounded pieces. Knows no connection.
import { Fault } from '../errors.js';
import type { LogReader, Numbered } from '../log/log.js';
import { REPLAY_PIECE } from './limits.js';

/**
 * Yields the kept frames with numbers in (`after`, `before`), ascending, a piece at a time. The next piece is read when the
 * one before it was consumed. Throws REPLAY_OUT_OF_RANGE when frames that are still to come were trimmed away (pty-ext §8).
 */
export async function* replay(reader: LogReader, after: number, before: number): AsyncGenerator<readonly Numbered[]> {
  let place = after;
  while (place < before - 1) {
    const piece = await reader.read(place, REPLAY_PIECE);
    const first = piece[0]?.sequence;
    if (reader.extent().oldest - 1 > place && first !== place + 1) throw outOfRange(place, reader.extent().oldest);
    const wanted = piece.filter((frame) => frame.sequence < before);
    if (wanted.length > 0) yield wanted;
    if (wanted.length < piece.length || piece.length === 0) return;
    place = piece.at(-1)?.sequence ?? before;
  }
}

export function outOfRange(replayFrom: number, oldest: number): Fault {
  const message = `replay_from ${replayFrom} is not within what is kept: the oldest frame is ${oldest}`;
  return new Fault('REPLAY_OUT_OF_RANGE', message, { details: { oldest } });
}
