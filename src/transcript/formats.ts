// A session's history as text: ndjson, or plain lines. Knows no HTTP and no log.
import { StringDecoder } from 'node:string_decoder';
import type { Frame } from '../protocol/frames.js';
import { readPayload } from '../protocol/make-frames.js';
import { type Line, Lines } from './lines.js';

/** Makes lines of text of frames, in their order. Each ends with a newline. */
export interface Format {
  take(frame: Frame): readonly string[];
  /** What is left at the end of the history. */
  end(): readonly string[];
}

export const moment = (ts: number) => new Date(ts).toISOString();

/** One frame a line; Output as text, where a character that is split is in the frame that completes it. Keyframes are left out: what they show was printed. */
export function ndjson(): Format {
  const utf8 = new StringDecoder('utf8');
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
    end: () => [],
  };
}

/** The lines that were printed; with `q`, those in which it stands, in letters of either case. */
export function plain(q?: string): Format {
  return printed(q, ({ text }) => `${text}\n`);
}

/** The lines in which `q` stands, each with the number and the time of the frame that began it. */
export function found(q: string): Format {
  return printed(q, ({ text, mark: { sequence, ts } }) => `${JSON.stringify({ sequence, ts: moment(ts), kind: 'Line', text })}\n`);
}

function printed(q: string | undefined, told: (line: Line<Frame>) => string): Format {
  const lines = new Lines<Frame>();
  const wanted = q?.toLowerCase();
  const tellWanted = (ended: readonly Line<Frame>[]) =>
    ended.filter(({ text }) => wanted === undefined || text.toLowerCase().includes(wanted)).map(told);
  return {
    take: (frame) => (frame.kind === 'Output' ? tellWanted(lines.take(frame.body, frame)) : []),
    end: () => tellWanted(lines.rest()),
  };
}
