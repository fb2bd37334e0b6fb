// A session's history as an asciicast of version 2, as asciinema plays it. Knows no HTTP and no log.
import { StringDecoder } from 'node:string_decoder';
import type { Frame, Keyframe, MembershipChanged } from '../protocol/frames.js';
import { readPayload } from '../protocol/make-frames.js';
import type { Size } from '../terminal/terminal.js';
import { type Format, lostText } from './formats.js';

export interface CastOptions {
  /** Of the terminal when the session began. */
  readonly size: Size;
  /** Whether the first frame that comes is the first that there ever was. Else the cast begins at the first Keyframe. */
  readonly isWhole: boolean;
  /** Whether a frame is in what is asked for; those before it are folded into the first picture. */
  readonly isWanted: (frame: Frame) => boolean;
  readonly title?: string | undefined;
}

/** Takes all frames from the oldest on, so that it can begin anywhere with what the screen showed there. */
export function asciicast({ size, isWhole, isWanted, title }: CastOptions): Format {
  let utf8 = new StringDecoder('utf8');
  let now: Size = size;
  /** What makes the screen of just before the cast begins; undefined as long as nothing is known of it. */
  let before: Buffer[] | undefined = isWhole ? [] : undefined;
  let start: number | undefined;
  let last = 0;
  /** Behind a gap nobody knows what the screen shows, until the next Keyframe. */
  let isTorn = false;

  const event = (ts: number, code: 'o' | 'r' | 'm', data: string): string => {
    last = Math.max(last, ts - (start ?? ts));
    return `${JSON.stringify([last / 1000, code, data])}\n`;
  };
  const begin = (ts: number): string[] => {
    start = ts;
    const shown = utf8.write(Buffer.concat(before ?? []));
    const header = {
      version: 2,
      width: now.cols,
      height: now.rows,
      timestamp: Math.floor(ts / 1000),
      ...(title && { title }),
      env: { TERM: 'xterm-256color' },
    };
    return [`${JSON.stringify(header)}\n`, ...(shown === '' ? [] : [event(ts, 'o', shown)])];
  };
  const fold = (frame: Frame): void => {
    const payload = readPayload(frame);
    if (payload.kind === 'Output') before?.push(Buffer.from(payload.bytes));
    else if (payload.kind === 'Resize') now = { cols: payload.cols, rows: payload.rows };
    else if (payload.kind === 'Keyframe') ({ now, before } = picture(payload));
  };
  const tell = (frame: Frame): string[] => {
    const payload = readPayload(frame);
    switch (payload.kind) {
      case 'Output': {
        const text = utf8.write(Buffer.from(payload.bytes));
        return text === '' ? [] : [event(frame.ts, 'o', text)];
      }
      case 'Resize':
        now = { cols: payload.cols, rows: payload.rows };
        return [event(frame.ts, 'r', `${payload.cols}x${payload.rows}`)];
      case 'Keyframe':
        return isTorn ? mend(payload, frame.ts) : [];
      case 'MembershipChanged':
        return [event(frame.ts, 'm', attached(payload))];
      case 'Closed':
        return [event(frame.ts, 'm', `ended: ${payload.reason}`)];
      default:
        return [];
    }
  };

  const mend = (keyframe: Keyframe, ts: number): string[] => {
    const { now: size, before: shown } = picture(keyframe);
    const isOther = size.cols !== now.cols || size.rows !== now.rows;
    const resized = isOther ? [event(ts, 'r', `${size.cols}x${size.rows}`)] : [];
    isTorn = false;
    now = size;
    return [...resized, event(ts, 'o', Buffer.concat(shown).toString())];
  };

  return {
    take: (frame) => {
      if (start !== undefined) return tell(frame);
      if (before !== undefined && isWanted(frame)) return [...begin(frame.ts), ...tell(frame)];
      fold(frame);
      return [];
    },
    gap: (lost, ts) => {
      utf8 = new StringDecoder('utf8');
      before = undefined;
      isTorn = true;
      return start === undefined ? [] : [event(ts, 'm', lostText(lost))];
    },
    end: () => (start === undefined ? begin(0) : []),
  };
}

function picture({ snapshot, snapshot_cols: cols, snapshot_rows: rows }: Keyframe) {
  return { now: { cols, rows }, before: [Buffer.from(snapshot, 'base64')] };
}

function attached({ controllers, observers }: MembershipChanged): string {
  const names = (members: MembershipChanged['controllers']) => members.map(({ label, client_id }) => label ?? client_id).join(', ');
  const parts = [controllers.length > 0 && `controlled by ${names(controllers)}`, observers.length > 0 && `watched by ${names(observers)}`];
  return parts.filter(Boolean).join(', ') || 'nobody attached';
}
