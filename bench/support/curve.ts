// A cost against what it grows with, and what its shape is called. Knows nothing of what was measured.

export interface Curve {
  /** What it costs, of what. */
  readonly name: string;
  /** What grows. */
  readonly of: string;
  readonly unit: string;
  /** From the smallest on. */
  readonly points: ReadonlyArray<readonly [size: number, cost: number]>;
}

export interface Shape {
  /** What one more costs, over all of the curve, in the curve's unit. */
  readonly slope: number;
  /** What one more costs at the end of the curve, as a multiple of what it costs at its beginning: 1 is a line. */
  readonly bend: number;
  readonly word: 'flat' | 'flattens' | 'linear' | 'steepens';
}

/** Flat is what ends within so much of where it began, as a share. */
const FLAT = 0.35;
/** A line's last step costs at most so many times its first; less than the inverse, and it flattens. */
const STRAIGHT = 2;

/** Of at least three points. */
export function shapeOf({ points }: Curve): Shape {
  const [first, last] = [points[0], points.at(-1)] as [Curve['points'][number], Curve['points'][number]];
  const middle = points[points.length >> 1] as Curve['points'][number];
  const slope = slopeOf(first, last);
  const bend = slopeOf(middle, last) / slopeOf(first, middle);
  if (Math.abs(last[1] - first[1]) <= FLAT * Math.max(first[1], last[1])) return { slope, bend, word: 'flat' };
  return { slope, bend, word: bend > STRAIGHT ? 'steepens' : bend < 1 / STRAIGHT ? 'flattens' : 'linear' };
}

const slopeOf = ([x, y]: readonly [number, number], [x2, y2]: readonly [number, number]): number => (y2 - y) / (x2 - x);
