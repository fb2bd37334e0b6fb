// What can be played: moments in order, and a timeline by which they are found. Knows no screen, and not where it is kept.
import type { Timeline } from './timeline.js';

/** Integers, 1…1024. */
export interface Size {
  readonly cols: number;
  readonly rows: number;
}

/** Something that happened, so many milliseconds after the beginning. A picture makes the whole screen, whatever was shown before. */
export type Moment = { readonly sequence: number; readonly at: number } & (
  | { readonly kind: 'output'; readonly bytes: Uint8Array }
  | { readonly kind: 'picture'; readonly bytes: Uint8Array; readonly size: Size }
  | { readonly kind: 'resize'; readonly size: Size }
);

export interface Recording {
  readonly timeline: Timeline;
  /** In pieces, the moments from this number on, ascending. What is not taken is not read. Rejects with RecordingError. */
  read(from: number, signal: AbortSignal): AsyncIterable<readonly Moment[]>;
}

/** A recording cannot be had, or read; its message is for a person. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError';
  /** HTTP status, where it came over HTTP; 0 if nothing answered. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}
