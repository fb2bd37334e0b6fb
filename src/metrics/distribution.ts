// A histogram without labels that costs two additions a value, so that it may stand where every frame passes. Knows no metric.
import { Histogram, type HistogramConfiguration } from 'prom-client';

export class Distribution extends Histogram {
  readonly #options: HistogramConfiguration<string>;
  readonly #bounds: readonly number[];
  /** Values up to each bound that are above the one before; the last are above all. */
  readonly #counts: Float64Array;
  #sum = 0;
  #greatest = 0;

  constructor(options: HistogramConfiguration<string> & { readonly buckets: number[] }) {
    super(options);
    this.#options = options;
    this.#bounds = options.buckets;
    this.#counts = new Float64Array(options.buckets.length + 1);
  }

  add(value: number): void {
    let i = 0;
    while (i < this.#bounds.length && value > (this.#bounds[i] as number)) i++;
    this.#counts[i] = (this.#counts[i] as number) + 1;
    this.#sum += value;
    if (value > this.#greatest) this.#greatest = value;
  }

  /** The greatest value since this was asked last; 0 if there was none. */
  takeGreatest(): number {
    const greatest = this.#greatest;
    this.#greatest = 0;
    return greatest;
  }

  /** What the registry tells of it. */
  async getForPromString(): Promise<object> {
    const { name, help } = this.#options;
    let count = 0;
    const buckets = [...this.#counts].map((more, i) => {
      count += more;
      return { metricName: `${name}_bucket`, labels: { le: this.#bounds[i] ?? '+Inf' }, value: count };
    });
    const sum = { metricName: `${name}_sum`, labels: {}, value: this.#sum };
    const all = { metricName: `${name}_count`, labels: {}, value: count };
    return { name, help, type: 'histogram', values: [...buckets, sum, all] };
  }
}
