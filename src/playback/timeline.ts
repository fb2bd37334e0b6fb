// Where things are in a recording: how long it is, where playing can begin, and what happened beside the output. Knows no bytes.
import type { Size } from './recording.js';

/** Places to begin at that are kept; of more, every second one is forgotten, as often as need be. */
export const MAX_KEYFRAMES = 4096;
/** Markers that are kept; those that come later are left out. */
export const MAX_MARKERS = 1024;

/** Milliseconds since the beginning. */
interface Placed {
  readonly at: number;
}

export interface KeyframePlace extends Placed {
  readonly sequence: number;
}

/** Something worth a look, in words. */
export interface Marker extends Placed {
  readonly kind: 'joined' | 'left' | 'control' | 'resized' | 'ended' | 'marked';
  readonly text: string;
}

export interface Timeline {
  /** Milliseconds since the epoch; undefined if nobody knows. */
  readonly startedAt: number | undefined;
  /** Milliseconds. */
  readonly duration: number;
  /** At the beginning. */
  readonly size: Size;
  /** The number of the first moment. */
  readonly first: number;
  /** Whether the first moment is the beginning of all; else nothing can be shown before the first Keyframe. */
  readonly isWhole: boolean;
  /** By their places. */
  readonly keyframes: readonly KeyframePlace[];
  readonly markers: readonly Marker[];
}

/** The last of them (which are in order) at or before a place. */
export function lastBefore<Thing extends Placed>(things: readonly Thing[], at: number): Thing | undefined {
  let low = 0;
  let high = things.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((things[middle] as Thing).at <= at) low = middle + 1;
    else high = middle;
  }
  return things[low - 1];
}

/** The first of them behind a place. */
export function firstAfter<Thing extends Placed>(things: readonly Thing[], at: number): Thing | undefined {
  return things.find((thing) => thing.at > at);
}
