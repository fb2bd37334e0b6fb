// A session's history for those who play it: its frames as they are on the wire, and an index of where to begin. Knows no HTTP and no log.
import type { Closed, Frame, MembershipChanged, Resize } from '../protocol/frames.js';
import { readPayload } from '../protocol/make-frames.js';
import type { Size } from '../terminal/terminal.js';
import { type Format, gapLine, moment } from './formats.js';

const line = ({ sequence, ts }: Frame, members: object): string => `${JSON.stringify({ sequence, ts: moment(ts), ...members })}\n`;

/** Each frame of the session (pty-ext §7) with its number and time, Keyframes too; Output has its bytes as base64. */
export function frames(): Format {
  return {
    take: (frame) => {
      const payload = readPayload(frame);
      if (payload.kind === 'TaskStatusUpdate') return [];
      if (payload.kind !== 'Output') return [line(frame, payload)];
      return [line(frame, { kind: 'Output', stream: payload.stream, data: Buffer.from(payload.bytes).toString('base64') })];
    },
    gap: (lost, ts) => [gapLine(lost, ts)],
    end: () => [],
  };
}

/**
 * What is needed to find one's way in a history without reading it: `Begin`, the first frame from which the screen can be shown, and the size
 * there; then each Keyframe (without its snapshot), Resize, MembershipChanged and Closed, and each Gap; `End`, the last frame. Nothing, if nothing can be shown.
 */
export function index({ size, isWhole }: { readonly size: Size; readonly isWhole: boolean }): Format {
  let last: Frame | undefined;
  return {
    take: (frame) => {
      const entry = entryOf(frame);
      const start = isWhole ? size : entry?.kind === 'Keyframe' ? entry : undefined;
      if (!last && !start) return [];
      const begin = !last && start ? [line(frame, { kind: 'Begin', cols: start.cols, rows: start.rows })] : [];
      last = frame;
      return entry ? [...begin, line(frame, entry)] : begin;
    },
    gap: (lost, ts) => (last ? [gapLine(lost, ts)] : []),
    end: () => (last ? [line(last, { kind: 'End' })] : []),
  };
}

function entryOf(frame: Frame) {
  switch (frame.kind) {
    case 'Keyframe':
    case 'Resize':
    case 'MembershipChanged':
    case 'Closed': {
      const payload = readPayload(frame);
      if (payload.kind !== 'Keyframe') return payload as Resize | MembershipChanged | Closed;
      return { kind: payload.kind, cols: payload.snapshot_cols, rows: payload.snapshot_rows };
    }
    default:
      return undefined;
  }
}
