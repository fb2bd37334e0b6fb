// Snapshots as Keyframe frames (pty-ext §7.5). Knows no session.
import type { Frame } from '../protocol/frames.js';
import { entry, type Unnumbered } from '../protocol/make-frames.js';
import { SNAPSHOT_FORMAT } from '../protocol/names.js';
import type { Snapshot } from '../terminal/terminal.js';

export function keyframe(snapshot: Snapshot): Unnumbered {
  return entry('Keyframe', {
    snapshot: Buffer.from(snapshot.bytes).toString('base64'),
    snapshot_format: SNAPSHOT_FORMAT,
    snapshot_cols: snapshot.cols,
    snapshot_rows: snapshot.rows,
    anchor_sequence: snapshot.anchor,
  });
}

/**
 * The Keyframe with this number; a KEYFRAME_UNAVAILABLE with it where the screen has none (pty-ext §7.7), or, having been behind, only a later one
 * (an anchor is always below its Keyframe's number, protocol R4): then `late` is called. Never rejects.
 */
export async function keyframeOf(screen: { snapshot(): Promise<Snapshot> }, sequence: number, late?: () => void): Promise<Frame> {
  const snapshot = await screen.snapshot().catch(() => undefined);
  if (snapshot && snapshot.anchor < sequence) return { ...keyframe(snapshot), sequence };
  if (snapshot) late?.();
  const message = 'the screen cannot be told at this place; ask again';
  return { ...entry('Error', { code: 'KEYFRAME_UNAVAILABLE', message }), sequence };
}
