// The steps from which a screen can be folded again: the newest Keyframe in the log, and what came after it. Knows no emulator.
import type { LogReader, Numbered } from '../log/log.js';
import type { Keyframe, Resize } from '../protocol/frames.js';
import type { Screen, ScreenStep, Size } from '../terminal/terminal.js';

/** One read of the log, at most. */
const READ = { frames: 256, bytes: 1024 * 1024 };

const json = <T>(body: Uint8Array): T => JSON.parse(Buffer.from(body).toString()) as T;

/** The Keyframe shows no more than the steps up to `upTo`, if there is one of that kind; else the oldest that is newer is taken. */
export async function* past(reader: LogReader, upTo = Number.POSITIVE_INFINITY): AsyncGenerator<ScreenStep> {
  const keyframe = await keyframeFor(reader, upTo);
  if (keyframe) {
    const { snapshot, snapshot_cols: cols, snapshot_rows: rows, anchor_sequence: anchor } = json<Keyframe>(keyframe.body);
    yield { kind: 'snapshot', snapshot: { cols, rows, anchor, bytes: Buffer.from(snapshot, 'base64') } };
  }
  for await (const { kind, sequence, body } of entriesAfter(reader, keyframe?.sequence ?? 0)) {
    if (kind === 'Output') yield { kind: 'output', sequence, bytes: body };
    else if (kind === 'Resize') yield { kind: 'resize', sequence, size: json<Resize>(body) };
  }
}

async function* entriesAfter(reader: LogReader, after: number): AsyncGenerator<Numbered> {
  for (let at = after; ; ) {
    const entries = await reader.read(at, READ);
    const last = entries.at(-1);
    if (!last) return;
    yield* entries;
    at = last.sequence;
  }
}

const anchorOf = ({ body }: Numbered): number => json<Keyframe>(body).anchor_sequence;

/** Undefined where the log is kept from its beginning, and that is to be begun from. */
async function keyframeFor(reader: LogReader, upTo: number): Promise<Numbered | undefined> {
  const newest = await reader.latest('Keyframe');
  if (!newest || anchorOf(newest) <= upTo) return newest;
  const first = reader.extent().oldest - 1;
  for (let back = READ.frames; ; back *= 2) {
    const from = Math.max(first, upTo - back);
    const { before, behind } = await keyframesAround(reader, from, upTo);
    if (before || from === 0) return before;
    if (from === first) return behind ?? newest;
  }
}

/** The last Keyframe above `from` that shows no more than the steps up to `upTo`, and the first that shows more. */
async function keyframesAround(reader: LogReader, from: number, upTo: number): Promise<{ before?: Numbered; behind?: Numbered }> {
  let before: Numbered | undefined;
  for await (const entry of entriesAfter(reader, from)) {
    if (entry.kind !== 'Keyframe') continue;
    if (anchorOf(entry) > upTo) return { ...(before && { before }), behind: entry };
    before = entry;
  }
  return before ? { before } : {};
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
