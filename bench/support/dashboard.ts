// Draws the dashboard of the chart as an SVG from what a Prometheus answers to its expressions: what is seen in Grafana, without Grafana. Knows no gateway.

/** Width of one of the 24 columns, height of one row unit, and what is between panels, in pixels. */
const COLUMN = 60;
const UNIT = 30;
const GAP = 8;
const FOOT = 56;
/** Seconds without a sample after which a line is broken. */
const GAP_SECONDS = 4;
const colors = ['#73bf69', '#f2cc0c', '#5794f2', '#ff780a', '#b877d9', '#f2495c', '#8ab8ff', '#c0d8ff', '#fade2a', '#96d98d'];
const backgrounds: Readonly<Record<string, string>> = { green: '#2f7d32', yellow: '#b58900', red: '#b3261e' };

type Values = ReadonlyArray<readonly [seconds: number, value: number]>;

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  /** Oldest first. */
  readonly values: Values;
}

interface Target {
  readonly expr: string;
  readonly legendFormat: string;
}

interface Panel {
  readonly title: string;
  readonly type: 'row' | 'stat' | 'timeseries';
  readonly gridPos: Readonly<Record<'x' | 'y' | 'w' | 'h', number>>;
  readonly targets?: readonly Target[];
  readonly fieldConfig?: {
    readonly defaults: {
      readonly unit: string;
      readonly thresholds?: { readonly steps: ReadonlyArray<{ color: string; value: number | null }> };
    };
  };
}

export interface Dashboard {
  readonly panels: readonly Panel[];
}

interface Found {
  readonly target: Target;
  readonly series: readonly Series[];
}

interface Line {
  readonly name: string;
  readonly values: Values;
}

interface Area {
  readonly left: number;
  readonly above: number;
  readonly right: number;
  readonly bottom: number;
}

/** The expression as Prometheus takes it: all replicas, and rates over this many seconds. */
export function plain(expr: string, rateSeconds = 15): string {
  return expr.replaceAll('$__rate_interval', `${rateSeconds}s`).replaceAll('$job', '.+').replaceAll('$instance', '.+');
}

/** All expressions of the dashboard, with the panels that they are of. */
export function expressions({ panels }: Dashboard): Array<{ title: string; expr: string }> {
  return panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
}

/** `foot` says below what it is a picture of. */
export async function draw(
  dashboard: Dashboard,
  ask: (expr: string) => Promise<readonly Series[]>,
  foot: readonly string[],
): Promise<string> {
  const parts: string[] = [];
  for (const panel of dashboard.panels) {
    const found = await Promise.all((panel.targets ?? []).map(async (target) => ({ target, series: await ask(plain(target.expr)) })));
    parts.push(place(panel, panel.type === 'row' ? row(panel) : panel.type === 'stat' ? stat(panel, found) : graph(panel, found)));
  }
  const bottom = Math.max(...dashboard.panels.map(({ gridPos: { y, h } }) => y + h)) * UNIT;
  const [width, height] = [24 * COLUMN + GAP, bottom + FOOT];
  const label = foot.map((line, i) => text(GAP, bottom + 25 + 18 * i, line, { fill: '#9fa7b3', size: 13 })).join('');
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="DejaVu Sans"><rect width="100%" height="100%" fill="#111217"/>${parts.join('')}${label}</svg>`;
}

const place = ({ gridPos: { x, y } }: Panel, inside: string) =>
  `<g transform="translate(${x * COLUMN + GAP} ${y * UNIT + GAP})">${inside}</g>`;
const size = ({ gridPos: { w, h } }: Panel) => ({ w: w * COLUMN - GAP, h: h * UNIT - GAP });
const escaped = (words: string) => words.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

interface Style {
  readonly fill?: string;
  readonly size?: number;
  readonly anchor?: string | undefined;
  readonly weight?: string;
}

function text(x: number, y: number, words: string, { fill = '#ccccdc', size: px = 13, anchor = 'start', weight = 'normal' }: Style = {}) {
  return `<text x="${x}" y="${y}" fill="${fill}" font-size="${px}" text-anchor="${anchor}" font-weight="${weight}">${escaped(words)}</text>`;
}

const row = ({ title }: Panel) => text(2, 17, title, { size: 15, weight: 'bold' });

function stat(panel: Panel, found: readonly Found[]): string {
  const { w, h } = size(panel);
  const { unit = 'short', thresholds } = panel.fieldConfig?.defaults ?? {};
  const value = found[0]?.series[0]?.values.at(-1)?.[1];
  const step = thresholds?.steps.filter((one) => one.value === null || (value ?? Number.NaN) >= one.value).at(-1);
  const fill = value === undefined || Number.isNaN(value) ? '#3a3d46' : backgrounds[step?.color ?? 'red'];
  const shown = value === undefined || Number.isNaN(value) ? 'no data' : shownAs(value, unit);
  return `<rect width="${w}" height="${h}" rx="3" fill="${fill}"/>${text(w / 2, 24, panel.title, { anchor: 'middle', fill: '#fff' })}${text(w / 2, h / 2 + 24, shown, { anchor: 'middle', size: 28, weight: 'bold', fill: '#fff' })}`;
}

function graph(panel: Panel, found: readonly Found[]): string {
  const { w, h } = size(panel);
  const { unit = 'short' } = panel.fieldConfig?.defaults ?? {};
  const lines = found.flatMap(({ target, series }) =>
    series.map(({ metric, values }) => ({ name: named(target.legendFormat, metric), values })),
  );
  const area = { left: 62, above: 34, right: w - 10, bottom: h - 40 };
  const head = `<rect width="${w}" height="${h}" rx="3" fill="#181b1f" stroke="#2c3038"/>${text(10, 21, panel.title)}`;
  if (lines.length === 0) return `${head}${text(w / 2, h / 2, 'no data', { anchor: 'middle', fill: '#7b8087' })}`;
  return head + axes(lines, area, unit) + lines.map((line, i) => curve(line, lines, area, colorOf(i))).join('') + legend(lines, w, h);
}

const colorOf = (i: number) => colors[i % colors.length] as string;
const named = (format: string, metric: Series['metric']) => format.replace(/\{\{(\w+)\}\}/g, (_, label) => metric[label] ?? '') || 'value';
const numbers = (lines: readonly Line[]) => lines.flatMap(({ values }) => values.map(([, value]) => value)).filter(Number.isFinite);
const top = (lines: readonly Line[]) => Math.max(...numbers(lines), 0) || 1;
const span = (lines: readonly Line[]): [number, number] => {
  const times = lines.flatMap(({ values }) => values.map(([at]) => at));
  return [Math.min(...times), Math.max(...times)];
};

function axes(lines: readonly Line[], { left, above, right, bottom }: Area, unit: string): string {
  const [from, to] = span(lines);
  const across = [0, 0.5, 1].map((share) => {
    const y = bottom - share * (bottom - above);
    return `<line x1="${left}" x2="${right}" y1="${y}" y2="${y}" stroke="#2c3038"/>${text(left - 6, y + 4, shownAs(share * top(lines), unit), { anchor: 'end', size: 11, fill: '#9fa7b3' })}`;
  });
  const along = [0, 0.5, 1].map((share) =>
    text(left + share * (right - left), bottom + 15, clock(from + share * (to - from)), {
      anchor: ['start', 'middle', 'end'][share * 2],
      size: 10,
      fill: '#9fa7b3',
    }),
  );
  return [...across, ...along].join('');
}

const clock = (seconds: number) => new Date(seconds * 1000).toISOString().slice(11, 19);

function curve({ values }: Line, lines: readonly Line[], { left, above, right, bottom }: Area, color: string): string {
  const [from, to] = span(lines);
  const x = (at: number) => left + ((at - from) / (to - from || 1)) * (right - left);
  const y = (value: number) => bottom - (value / top(lines)) * (bottom - above);
  const known = values.filter(([, value]) => Number.isFinite(value));
  const path = known.map(([at, value], i) => {
    const isNew = at - (known[i - 1]?.[0] ?? Number.NEGATIVE_INFINITY) > GAP_SECONDS;
    return `${isNew ? 'M' : 'L'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
  });
  return `<path d="${path.join('')}" fill="none" stroke="${color}" stroke-width="1.6"/>`;
}

function legend(lines: readonly Line[], w: number, h: number): string {
  let x = 10;
  const marks: string[] = [];
  for (const [i, { name }] of lines.entries()) {
    const width = 22 + name.length * 6.6;
    if (x + width > w) break;
    marks.push(`<rect x="${x}" y="${h - 15}" width="12" height="3" fill="${colorOf(i)}"/>${text(x + 17, h - 10, name, { size: 11 })}`);
    x += width + 8;
  }
  return marks.join('');
}

/** In the units of Grafana that the dashboard has. */
function shownAs(value: number, unit: string): string {
  if (unit === 's') return value >= 1 ? `${short(value)} s` : value >= 0.001 ? `${short(value * 1e3)} ms` : `${short(value * 1e6)} µs`;
  if (unit === 'bool_yes_no') return value ? 'yes' : 'no';
  if (unit === 'percentunit') return `${short(value * 100)} %`;
  if (unit === 'bytes' || unit === 'Bps') return `${scaled(value)}B${unit === 'Bps' ? '/s' : ''}`;
  return `${scaled(value)}${unit === 'cps' || unit === 'reqps' ? '/s' : ''}`.trimEnd();
}

const factors = [
  [1e9, ' G'],
  [1e6, ' M'],
  [1e3, ' k'],
  [1, ' '],
] as const;

function scaled(value: number): string {
  const [factor, prefix] = factors.find(([least]) => value >= least) ?? [1, ' '];
  return `${short(value / factor)}${prefix}`;
}

const short = (value: number) => String(Number(value.toPrecision(value >= 100 ? 3 : 2)));
