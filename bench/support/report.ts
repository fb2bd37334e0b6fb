// The answers as tables, on the screen and in bench/README.md, and as a picture beside it. Knows no question.
import { readFileSync, writeFileSync } from 'node:fs';
import { type Asked, type Judged, type Spread, spreadsOf } from './asking.js';
import { printTable, short, tableOf } from './figures.js';
import { machine } from './machine.js';
import { picture } from './picture.js';
import { inWords, isHeld } from './question.js';

const README = new URL('../README.md', import.meta.url);
const PICTURE = new URL('../budgets.svg', import.meta.url);
const [BEGIN, END] = ['<!-- bench: begin -->', '<!-- bench: end -->'];

const spreadText = ({ median, low, high }: Spread): string => `${short(median)} (${short(low)}–${short(high)})`;

/** On the screen: what everyone did, and what it is worth. */
export function tell({ question, rounds, judged, remarks, seconds }: Asked): void {
  console.log(`\n## ${question.name}: ${question.title} (${rounds.length} rounds, ${seconds.toFixed(0)} s)\n`);
  for (const name of rounds[0]?.keys() ?? []) {
    const figures = [...spreadsOf(rounds, name)].map(([figure, spread]) => `${figure} ${spreadText(spread)}`);
    console.log(`${name}: ${figures.join(', ')}`);
  }
  console.log('');
  printTable(HEAD, judged.map(rowOf));
  for (const remark of remarks) console.log(`\n${remark}`);
}

/** Replaces the table and the picture of bench/README.md. */
export function writeReport(asked: readonly Asked[]): void {
  const judged = asked.flatMap((one) => one.judged);
  const remarks = [...new Set(asked.flatMap((one) => one.remarks))];
  const lines = [
    `${machine()}; median (lowest–highest) of ${asked[0]?.rounds.length} rounds in turn.`,
    '',
    tableOf(HEAD, judged.map(rowOf)),
    ...remarks.flatMap((remark) => ['', remark]),
  ];
  const [before = '', rest = ''] = readFileSync(README, 'utf8').split(BEGIN);
  const [, after = ''] = rest.split(END);
  writeFileSync(README, `${before}${BEGIN}\n\n${lines.join('\n')}\n\n${END}${after}`);
  writeFileSync(PICTURE, picture(judged));
}

const HEAD = ['path', 'measured', '', 'must', 'aim', 'held'];

function rowOf({ budget, spread }: Judged): string[] {
  return [budget.path, spreadText(spread), budget.unit, inWords(budget.must), inWords(budget.aim), heldText(budget, spread.median)];
}

function heldText({ must, aim }: Judged['budget'], value: number): string {
  if (must && !isHeld(value, must)) return '**no**';
  if (aim) return isHeld(value, aim) ? 'aim' : must ? 'must' : 'not the aim';
  return must ? 'must' : '';
}
