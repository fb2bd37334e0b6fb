// A session's history as text: ndjson, or plain lines. Knows no HTTP and no log.
import { StringDecoder } from 'node:string_decoder';
import type { Stretch } from '../log/log.js';
import type { Frame } from '../protocol/frames.js';
import { readPayload } from '../protocol/make-frames.js';
import { type Line, Lines } from './lines.js';

/** Makes lines of text of frames, in their order. Each ends with a newline. */
export interface Format {
  take(frame: Frame): readonly string[];
  /** Here frames are missing that were lost; `ts` is the time of the first behind them, or else of the last before. */
  gap(lost: Stretch, ts: number): readonly string[];
  /** What is left at the end of the history. */
  end(): readonly string[];
}

export const lostText = ({ from, to }: Stretch) => `frames ${from} to ${to} are lost`;

/** A gap as a line of JSON. */
export const gapLine = ({ from, to }: Stretch, ts: number): string =>
  `${JSON.stringify({ sequence: to, ts: moment(ts), kind: 'Gap', from, to })}\n`;

export const moment = (ts: number) => new Date(ts).toISOString();

/** One frame a line; Output as text, where a character that is split is in the frame that completes it. Keyframes are left out: what they show was printed. */
export function ndjson(): Format {
  let utf8 = new StringDecoder('utf8');
  const told = (frame: Frame): object | undefined => {
    const payload = readPayload(frame);
    if (payload.kind === 'Keyframe') return undefined;
    return payload.kind === 'Output' ? { kind: 'Output', text: utf8.write(Buffer.from(payload.bytes)) } : payload;
  };
  return {
    take: (frame) => {
      const members = told(frame);
      return members ? [`${JSON.stringify({ sequence: frame.sequence, ts: moment(frame.ts), ...members })}\n`] : [];
    },
    gap: (lost, ts) => {
      utf8 = new StringDecoder('utf8');
      return [gapLine(lost, ts)];
    },
    end: () => [],
  };
}

/** The lines that were printed, and what is lost between them; with `q`, the lines in which it stands, in letters of either case. */
export function plain(q?: string): Format {
  return printed(
    q,
    ({ text }) => `${text}\n`,
    (lost) => (q === undefined ? [`[${lostText(lost)}]\n`] : []),
  );
}

/** The lines in which `q` stands, each with the number and the time of the frame that began it, and the time from which the whole of it was there. */
export function found(q: string): Format {
  const told = ({ text, mark: { sequence, ts }, last }: Line<Frame>) => ({
    sequence,
    ts: moment(ts),
    kind: 'Line',
    text,
    whole_ts: moment(last.ts),
  });
  return printed(q, (line) => `${JSON.stringify(told(line))}\n`);
}

/** No line goes on behind a gap. */
function printed(q: string | undefined, told: (line: Line<Frame>) => string, lostTold: (lost: Stretch) => string[] = () => []): Format {
  let lines = new Lines<Frame>();
  const wanted = q?.toLowerCase();
  const tellWanted = (ended: readonly Line<Frame>[]) =>
    ended.filter(({ text }) => wanted === undefined || text.toLowerCase().includes(wanted)).map(told);
  return {
    take: (frame) => (frame.kind === 'Output' ? tellWanted(lines.take(frame.body, frame)) : []),
    gap: (lost) => {
      const rest = tellWanted(lines.rest());
      lines = new Lines<Frame>();
      return [...rest, ...lostTold(lost)];
    },
    end: () => tellWanted(lines.rest()),
  };
}
