// What a rolling restart of the chart's three pods costs those who watch, behind haproxy and behind nginx: frames lost, and how long each attachment
// waits. Run after a build: npx tsx bench/rolling.ts [--sessions 20] [--attachments 80] [--interval 0.1] [--behind haproxy,nginx] [--set drainSeconds=20]
// Needs helm, redis-server, haproxy and nginx on the PATH. Exits with 1 when anything was lost, or a pod had to be killed.
import { parseArgs } from 'node:util';
import { printTable, quantile } from './support/figures.js';
import { balancers, type Load, type Rolled, rollingRestart } from './support/rolling.js';

type Behind = keyof typeof balancers;

function readOptions(): { load: Load; behind: Behind[]; values: string[] } {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const set = { type: 'string', multiple: true, default: [] as string[] } as const;
  const { values } = parseArgs({
    options: { sessions: text('20'), attachments: text('80'), interval: text('0.1'), behind: text('haproxy,nginx'), set },
  });
  const load = { sessions: Number(values.sessions), attachments: Number(values.attachments), interval: Number(values.interval) };
  for (const [name, value] of Object.entries(load)) if (!(value > 0)) throw new Error(`--${name} is ${value}; expected a number above 0`);
  const behind = values.behind.split(',');
  const wrong = behind.find((name) => !(name in balancers));
  if (wrong !== undefined) throw new Error(`--behind has ${wrong}; expected ${Object.keys(balancers).join(' or ')}`);
  return { load, behind: behind as Behind[], values: values.set };
}

const three = (values: readonly number[]): string =>
  values.length === 0
    ? 'none'
    : `${[quantile(values, 0.5), quantile(values, 0.99), Math.max(...values)].map((ms) => ms.toFixed(0)).join(', ')} (of ${values.length})`;

function rowsOf({ verdict, replaced }: Rolled): ReadonlyArray<readonly [string, string | number]> {
  const listed = (of: (one: (typeof replaced)[number]) => string) => replaced.map(of).join(', ');
  return [
    ...verdict.rows,
    ['a cut attachment has all again, ms: p50, p99, max', three(verdict.gaps)],
    ['a session is silent, ms: p50, p99, max', three(verdict.silences)],
    ['pods end after SIGTERM, s', listed(({ endedMs }) => (endedMs / 1000).toFixed(1))],
    ['… with', listed(({ code }) => `${code ?? 'SIGKILL'}`)],
    ['pods take work again, s', listed(({ readyMs }) => (readyMs / 1000).toFixed(1))],
  ];
}

async function main(): Promise<boolean> {
  const { load, behind, values } = readOptions();
  const rolled: Rolled[] = [];
  for (const name of behind) rolled.push(await rollingRestart(name, load, values));
  const columns = rolled.map(rowsOf);
  const [first = []] = columns;
  printTable(
    ['what', ...behind],
    first.map(([what], row) => [what, ...columns.map((column) => column[row]?.[1] ?? '')]),
  );
  for (const words of rolled.flatMap(({ verdict }) => verdict.words)) console.log(words);
  return rolled.every(({ verdict, replaced }) => verdict.isClean && replaced.every(({ code }) => code === 0));
}

process.exit((await main()) ? 0 : 1);
