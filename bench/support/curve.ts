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
  /** What one more costs at the end of the curve, in its unit. */
  readonly slope: number;
  /** With which power of the size the cost grows at the end of the curve: 1 is linear, 2 quadratic. */
  readonly power: number;
  readonly word: 'flat' | 'flattens' | 'linear' | 'steepens';
}

/** Up to this power a curve is flat, flattens, is linear: what is measured is not exact. */
const [FLAT, FLATTENS, LINEAR] = [0.3, 0.75, 1.35];

/** By its last two points, which are the farthest apart. */
export function shapeOf({ points }: Curve): Shape {
  const [[x, y], [x2, y2]] = points.slice(-2) as [Point, Point];
  const power = Math.log(Math.max(y2, Number.MIN_VALUE) / Math.max(y, Number.MIN_VALUE)) / Math.log(x2 / x);
  const word = power <= FLAT ? 'flat' : power <= FLATTENS ? 'flattens' : power <= LINEAR ? 'linear' : 'steepens';
  return { slope: (y2 - y) / (x2 - x), power, word };
}

type Point = Curve['points'][number];
