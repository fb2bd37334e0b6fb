// The metrics of the table, for Prometheus: told by parts as they work, or read from them when Prometheus asks. Knows no part of the gateway.
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { Distribution } from './distribution.js';
import type { Labels, Meter } from './meter.js';
import { type CounterName, counters, type GaugeName, gauges, type HistogramName, histograms, PREFIX } from './table.js';

/** A number, or one for each set of labels. */
export type Reading = number | ReadonlyArray<readonly [labels: Labels, value: number]>;

type Row = (typeof counters)[CounterName] | (typeof gauges)[GaugeName];

export class Metrics implements Meter {
  readonly #register = new Registry();
  /** Of counters without labels: added up here, and told when Prometheus asks. */
  readonly #sums: Record<string, number> = {};
  readonly #counters = new Map<CounterName, Counter>();
  readonly #histograms: Readonly<Record<HistogramName, Distribution>>;

  constructor() {
    collectDefaultMetrics({ register: this.#register });
    for (const name of Object.keys(counters) as CounterName[]) this.#addCounter(name);
    const made = Object.entries(histograms).map(([name, { help, buckets }]) => {
      return [name, new Distribution({ name: PREFIX + name, help, buckets: [...buckets], registers: [this.#register] })];
    });
    this.#histograms = Object.fromEntries(made);
  }

  get contentType(): string {
    return this.#register.contentType;
  }

  count(name: CounterName, by = 1, labels?: Labels): void {
    if (labels) this.#counters.get(name)?.inc(labels, by);
    else this.#sums[name] = (this.#sums[name] ?? 0) + by;
  }

  observe(name: HistogramName, value: number): void {
    this.#histograms[name].add(value);
  }

  /** The greatest value since this was asked last; 0 if there was none. */
  takeGreatest(name: HistogramName): number {
    return this.#histograms[name].takeGreatest();
  }

  /** What a gauge shows, or a counter that is counted elsewhere. Asked for at each scrape, which waits for it. */
  read(name: GaugeName | CounterName, reading: () => Reading | Promise<Reading>): void {
    const known = this.#counters.get(name as CounterName);
    if (known) {
      this.#register.removeSingleMetric(PREFIX + name);
      this.#addCounter(name as CounterName, reading);
    } else this.#addGauge(name as GaugeName, reading);
  }

  /** The text that Prometheus reads. */
  text(): Promise<string> {
    return this.#register.metrics();
  }

  #addCounter(name: CounterName, reading?: () => Reading | Promise<Reading>): void {
    const row = counters[name];
    const labelNames = labelsOf(row);
    const told = reading ?? (labelNames.length === 0 ? () => this.#sums[name] ?? 0 : undefined);
    const counter: Counter = new Counter({
      name: PREFIX + name,
      help: row.help,
      labelNames,
      registers: [this.#register],
      ...(told && { collect: async () => show(counter, await told(), (labels, value) => counter.inc(labels, value)) }),
    });
    for (const labels of known(row)) counter.inc(labels, 0);
    this.#counters.set(name, counter);
  }

  #addGauge(name: GaugeName, reading: () => Reading | Promise<Reading>): void {
    const row = gauges[name];
    const gauge: Gauge = new Gauge({
      name: PREFIX + name,
      help: row.help,
      labelNames: labelsOf(row),
      registers: [this.#register],
      collect: async () => show(gauge, await reading(), (labels, value) => gauge.set(labels, value)),
    });
  }
}

/** What has no labels is 0 after a reset: where nothing is to be told, that is not told either. */
function show(
  metric: { reset(): void; remove(labels: Labels): void },
  reading: Reading,
  set: (labels: Labels, value: number) => void,
): void {
  metric.reset();
  metric.remove({});
  for (const [labels, value] of typeof reading === 'number' ? [[{}, reading] as const] : reading) set(labels, value);
}

function labelsOf(row: Row): string[] {
  return 'labels' in row ? Object.keys(row.labels) : [];
}

/** All sets of labels that are known beforehand. */
function known(row: Row): Labels[] {
  if (!('labels' in row)) return [];
  return Object.entries(row.labels).reduce<Labels[]>(
    (sets, [label, values]) => sets.flatMap((set) => values.map((value: string) => ({ ...set, [label]: value }))),
    [{}],
  );
}
