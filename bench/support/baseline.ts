// What was measured before, in a file, and whether what is measured now differs by more than noise. Knows no question.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Asked, Spread } from './asking.js';
import { printTable, short } from './figures.js';
import { machine } from './machine.js';

const FILE = new URL('../baseline.json', import.meta.url);
/** Medians that are closer than this share of the old one are the same, whatever their rounds say. */
const SAME = 0.1;

interface Baseline {
  readonly machine: string;
  /** By question, path and unit. */
  readonly values: Readonly<Record<string, Spread>>;
}

const valuesOf = (asked: readonly Asked[]): Record<string, Spread> =>
  Object.fromEntries(
    asked.flatMap(({ question, judged }) =>
      judged.map(({ budget, spread }) => [`${question.name}: ${budget.path}, ${budget.unit}`, spread] as const),
    ),
  );

/** Values of questions that were not asked stay as they were. */
export function storeBaseline(asked: readonly Asked[]): void {
  const values = { ...read()?.values, ...valuesOf(asked) };
  writeFileSync(FILE, `${JSON.stringify({ machine: machine(), values }, undefined, 2)}\n`);
}

/** Prints what differs; true if anything does. */
export function compare(asked: readonly Asked[]): boolean {
  const before = read();
  if (!before) throw new Error('there is no baseline: store one with --baseline');
  const both = Object.entries(valuesOf(asked)).flatMap(([name, now]) => {
    const then = before.values[name];
    return then ? [{ name, then, now, differs: differs(then, now) }] : [];
  });
  console.log(`\n## Beside the baseline of ${before.machine}\n`);
  printTable(
    ['value', 'then', 'now', 'now ÷ then', 'beyond noise'],
    both.map(({ name, then, now, differs }) => [
      name,
      short(then.median),
      short(now.median),
      short(now.median / then.median),
      differs ? '**yes**' : '',
    ]),
  );
  return both.some((one) => one.differs);
}

/** No round of one is like any round of the other, and the medians are apart. */
export function differs(then: Spread, now: Spread): boolean {
  const areApart = now.low > then.high || now.high < then.low;
  return areApart && Math.abs(now.median - then.median) > SAME * then.median;
}

function read(): Baseline | undefined {
  return existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : undefined;
}
