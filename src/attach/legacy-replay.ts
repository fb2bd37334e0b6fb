// What `?replay_from=N` brings a client of the reference implementation before it joins: the screen at N, then all that came since. Knows no verb.
import { asFault, type Fault } from '../errors.js';
import type { Frame } from '../protocol/frames.js';
import { encodeLegacyKeyframe, encodeSessionClosed } from '../protocol/legacy-frames.js';
import type { Session } from '../session/session.js';
import type { Outlet } from './outlet.js';
import { outOfRange, replay } from './replay.js';
import { screenAt } from './screen-at.js';

/** How far a client is that was replayed to before it joined. */
export interface Resumed {
  /** All up to this number was sent. */
  readonly at: number;
  /** It was shown the screen that these frames go on from, so that its join need not end with a Keyframe. */
  readonly isWhole: boolean;
}

export interface LegacyReplay {
  readonly session: Session;
  readonly outlet: Outlet;
  /** Told of each frame of the session that goes out, in order. */
  readonly sent: (frame: Frame) => void;
  /** Told why not all of it can be sent. */
  readonly refused: (fault: Fault) => void;
}

/**
 * Undefined when not all of it is kept: the client was told, and its join ends with a Keyframe. 'over' when the client has seen the end of the session
 * before: it was told, and there is nothing to join.
 */
export async function resume(parts: LegacyReplay, replayFrom: number): Promise<Resumed | 'over' | undefined> {
  const { session, outlet } = parts;
  const { oldest, current } = session.frames.extent();
  try {
    if (replayFrom > current || replayFrom < oldest - 1) throw outOfRange(replayFrom, oldest);
    const isWhole = await showScreen(parts, replayFrom);
    if (await hasSeenEnd(session, replayFrom)) {
      outlet.text(encodeSessionClosed());
      return 'over';
    }
    await sendSince(parts, replayFrom, current);
    return { at: current, isWhole };
  } catch (error) {
    const fault = asFault(error);
    parts.refused(fault);
    if (fault.code !== 'REPLAY_OUT_OF_RANGE') throw error;
    outlet.error(fault);
    return undefined;
  }
}

/** False where nobody can say any more how the screen was at that place. */
async function showScreen({ session, outlet, sent }: LegacyReplay, place: number): Promise<boolean> {
  const frames = await screenAt(session.frames, place, session.describe());
  if (!frames) return false;
  frames.forEach(sent);
  outlet.text(encodeLegacyKeyframe(place, frames));
  return true;
}

async function sendSince({ session, outlet, sent }: LegacyReplay, after: number, upTo: number): Promise<void> {
  for await (const piece of replay(session.frames, after, upTo + 1)) {
    const wanted = piece.filter((frame) => frame.kind !== 'Closed' && !outlet.codec.leavesOut(frame));
    await outlet.each(wanted, (frame) => {
      sent(frame);
      return outlet.codec.frame(frame);
    });
    if (!outlet.isOpen) return;
  }
}

async function hasSeenEnd({ frames }: Session, replayFrom: number): Promise<boolean> {
  const closed = await frames.latest('Closed');
  return closed !== undefined && closed.sequence <= replayFrom;
}
