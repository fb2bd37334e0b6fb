// How measurements are told: a value that so many were below, and a table. Knows nothing of what was measured.

/** The value that `share` (0…1) of them do not exceed; NaN of none. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Of durations in milliseconds, with how many there were. */
export function spread(values: readonly number[], digits = 0): string {
  if (values.length === 0) return 'none';
  const [p50, p99] = [quantile(values, 0.5), quantile(values, 0.99)];
  return `p50 ${p50.toFixed(digits)} ms, p99 ${p99.toFixed(digits)} ms (of ${values.length})`;
}

/** Three figures are enough of any number. */
export const short = (value: number): string => (Math.abs(value) >= 100 ? value.toFixed(0) : `${Number(value.toPrecision(3))}`);

/** A table in Markdown, its columns as wide as their widest cell. */
export function tableOf(head: readonly string[], rows: ReadonlyArray<ReadonlyArray<string | number>>): string {
  const all = [head, ...rows].map((cells) => cells.map(String));
  const widths = head.map((_, column) => Math.max(3, ...all.map((cells) => cells[column]?.length ?? 0)));
  const line = (cells: readonly string[]) => `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  const [first, ...others] = all.map(line);
  return [first, line(widths.map((width) => '-'.repeat(width))), ...others].join('\n');
}

export function printTable(head: readonly string[], rows: ReadonlyArray<ReadonlyArray<string | number>>): void {
  console.log(tableOf(head, rows));
}
