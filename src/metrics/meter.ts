// What parts of the gateway tell of their work, to be counted. Knows no Prometheus and no part.
import type { CounterName, HistogramName } from './table.js';

export type Labels = Readonly<Record<string, string>>;

export interface Meter {
  /** It happened, `by` times or units; an addition where there are no labels. */
  count(name: CounterName, by?: number, labels?: Labels): void;
  /** One value, in the unit that the name ends with. */
  observe(name: HistogramName, value: number): void;
}

/** For parts that nobody watches. */
export const noMeter: Meter = { count() {}, observe() {} };

/** Seconds since a moment of `performance.now()`. */
export const secondsSince = (moment: number): number => (performance.now() - moment) / 1000;
