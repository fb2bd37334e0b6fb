// A session's history at a gateway, over HTTP, a page at a time. Knows no screen.
import { fromBase64 } from '../client/base64.js';
import type { Closed, Keyframe, MembershipChanged, Output, PtyError, Resize } from '../protocol/frames.js';
import { type IndexLine, timelineOf } from './index-lines.js';
import { type Moment, type Recording, RecordingError } from './recording.js';
import type { Timeline } from './timeline.js';

/**
 * Frames that are asked for at once (fewer at first, since somebody waits for them), and bytes of them that are read before the rest is asked for
 * anew. A page is read in one go: who pauses keeps no answer open.
 */
const PAGE = { first: 128, frames: 500, bytes: 1024 * 1024 };
/** Longest line of an answer, in characters: a Keyframe of the largest screen. */
const MAX_LINE_CHARS = 32 * 1024 * 1024;

type FrameLine = { readonly sequence: number; readonly ts: string } & (Output | Keyframe | Resize | MembershipChanged | Closed | PtyError);

export interface SessionAddress {
  /** Of the session over HTTP: `…/agents/:inst/sessions/:id`. */
  readonly url: string;
  readonly token: string;
}

/** Reads where everything is. Rejects with RecordingError, also where there is nothing to show. */
export async function openRecording(address: SessionAddress, signal: AbortSignal): Promise<Recording> {
  const lines: IndexLine[] = [];
  for await (const line of linesOf<IndexLine>(address, 'format=index', signal)) lines.push(line);
  const timeline = timelineOf(lines);
  if (!timeline) throw new RecordingError('Nothing of this session can be shown: it has printed nothing, or nothing is kept.');
  return { timeline, read: (from, until) => pages(address, timeline, from, until) };
}

/** A line that was printed, and from when on the whole of it was there. */
export interface Hit {
  readonly at: number;
  readonly text: string;
}

/** The first `limit` lines in which a text stands. Rejects with RecordingError. */
export async function findIn(
  address: SessionAddress,
  { startedAt = 0 }: Timeline,
  text: string,
  limit: number,
  signal: AbortSignal,
): Promise<Hit[]> {
  const query = new URLSearchParams({ format: 'ndjson', q: text, limit: `${limit}` });
  const hits: Hit[] = [];
  for await (const line of linesOf<{ whole_ts: string; text: string }>(address, `${query}`, signal))
    hits.push({ at: Math.max(0, Date.parse(line.whole_ts) - startedAt), text: line.text });
  return hits;
}

async function* pages(address: SessionAddress, timeline: Timeline, from: number, signal: AbortSignal): AsyncGenerator<readonly Moment[]> {
  let next: number | undefined = from;
  let at = 0;
  while (next !== undefined) {
    const page: FrameLine[] = await pageOf(address, next, next === from ? PAGE.first : PAGE.frames, signal);
    const last = page.at(-1);
    next = last && last.sequence + 1;
    const moments: Moment[] = [];
    for (const line of page) {
      at = Math.max(at, Date.parse(line.ts) - (timeline.startedAt ?? 0));
      const moment = momentOf(line, at);
      if (moment) moments.push(moment);
    }
    yield moments;
  }
}

async function pageOf(address: SessionAddress, from: number, frames: number, signal: AbortSignal): Promise<FrameLine[]> {
  const page: FrameLine[] = [];
  let bytes = 0;
  for await (const line of linesOf<FrameLine>(address, `format=frames&from=${from}&limit=${frames}`, signal)) {
    page.push(line);
    bytes += line.kind === 'Output' ? line.data.length : 0;
    if (bytes > PAGE.bytes) break;
  }
  return page;
}

function momentOf(line: FrameLine, at: number): Moment | undefined {
  const { sequence } = line;
  switch (line.kind) {
    case 'Output':
      return { sequence, at, kind: 'output', bytes: fromBase64(line.data) };
    case 'Resize':
      return { sequence, at, kind: 'resize', size: { cols: line.cols, rows: line.rows } };
    case 'Keyframe': {
      const size = { cols: line.snapshot_cols, rows: line.snapshot_rows };
      return { sequence, at, kind: 'picture', bytes: fromBase64(line.snapshot), size };
    }
    default:
      return undefined;
  }
}

/** Each line of the answer as it comes; who stops taking them stops the answer. */
async function* linesOf<Line>({ url, token }: SessionAddress, query: string, signal: AbortSignal): AsyncGenerator<Line> {
  const answer = await fetch(`${url}/transcript?${query}`, {
    headers: { authorization: `Bearer ${token}` },

    signal,
  }).catch((error: unknown) => {
    if (signal.aborted) throw error;
    throw new RecordingError('The gateway cannot be reached.', 0);
  });
  if (!answer.ok || !answer.body) throw new RecordingError(await refusalIn(answer), answer.status);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    yield* readLines<Line>(reader);
  } finally {
    await reader.cancel().catch(() => {});
  }
}

async function* readLines<Line>(reader: ReadableStreamDefaultReader<string>): AsyncGenerator<Line> {
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read().catch(() => {
      throw new RecordingError('The gateway stopped in the middle of its answer.', 0);
    });
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE_CHARS) throw new RecordingError('The gateway answers in a way that is not understood.');
    for (const line of lines) yield JSON.parse(line) as Line;
  }
}

async function refusalIn(answer: Response): Promise<string> {
  const json = (await answer.json().catch(() => undefined)) as { error?: { message?: unknown } } | undefined;
  const message = json?.error?.message;
  return typeof message === 'string' ? message : `The gateway answered ${answer.status}.`;
}
