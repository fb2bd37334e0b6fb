// The steps from which a screen can be folded again: the newest Keyframe in the log, and what came after it. Knows no emulator.
import type { LogReader } from '../log/log.js';
import type { Keyframe, Resize } from '../protocol/frames.js';
import type { Screen, ScreenStep, Size } from '../terminal/terminal.js';

/** One read of the log, at most. */
const READ = { frames: 256, bytes: 1024 * 1024 };

const json = <T>(body: Uint8Array): T => JSON.parse(Buffer.from(body).toString()) as T;

export async function* past(reader: LogReader): AsyncGenerator<ScreenStep> {
  const newest = await reader.latest('Keyframe');
  if (newest) {
    const { snapshot, snapshot_cols: cols, snapshot_rows: rows, anchor_sequence: anchor } = json<Keyframe>(newest.body);
    yield { kind: 'snapshot', snapshot: { cols, rows, anchor, bytes: Buffer.from(snapshot, 'base64') } };
  }
  let after = newest?.sequence ?? 0;
  for (;;) {
    const entries = await reader.read(after, READ);
    const last = entries.at(-1);
    if (!last) return;
    for (const { kind, sequence, body } of entries) {
      if (kind === 'Output') yield { kind: 'output', sequence, bytes: body };
      else if (kind === 'Resize') yield { kind: 'resize', sequence, size: json<Resize>(body) };
    }
    after = last.sequence;
  }
}

/** Gives a fresh screen its past. */
export async function refold(screen: Screen, steps: AsyncIterable<ScreenStep>): Promise<void> {
  for await (const step of steps) {
    if (step.kind === 'output') screen.output(step.sequence, step.bytes);
    else if (step.kind === 'resize') screen.resize(step.sequence, step.size);
    else {
      screen.resize(step.snapshot.anchor, step.snapshot);
      screen.output(step.snapshot.anchor, step.snapshot.bytes);
    }
  }
}

/** The size that a session has now: of its newest Resize or Keyframe, or else that of its beginning. */
export async function sizeNow(reader: LogReader, first: Size): Promise<Size> {
  // Where a Keyframe is in the log itself, what an archive has is older.
  const where = (await reader.latest('Keyframe', 'log')) ? 'log' : undefined;
  const [resize, keyframe] = await Promise.all([reader.latest('Resize', where), reader.latest('Keyframe', where)]);
  if (resize && resize.sequence > (keyframe?.sequence ?? 0)) return sized(json<Resize>(resize.body));
  if (!keyframe) return sized(first);
  const { snapshot_cols: cols, snapshot_rows: rows } = json<Keyframe>(keyframe.body);
  return { cols, rows };
}

const sized = ({ cols, rows }: Size): Size => ({ cols, rows });
