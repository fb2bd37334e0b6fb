// What does each thing cost as there is more of it: sessions, watchers, frames a second, a past, replicas? `npm run bench:growth -- [CURVE…] [--write]`
// With --write the table and the picture of bench/README.md are made anew; it exits with 1 if anything steepens.
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { attachments } from './growth/attachments.js';
import { frameRate, history } from './growth/output.js';
import { replicas } from './growth/replicas.js';
import { busySessions, idleSessions } from './growth/sessions.js';
import { type Curve, shapeOf } from './support/curve.js';
import { curvesPicture } from './support/curves-picture.js';
import { short, tableOf } from './support/figures.js';
import { machine } from './support/machine.js';

const README = new URL('README.md', import.meta.url);
const PICTURE = new URL('growth.svg', import.meta.url);
const [BEGIN, END] = ['<!-- growth: begin -->', '<!-- growth: end -->'];

const questions = { idle: idleSessions, busy: busySessions, watchers: attachments, rate: frameRate, past: history, replicas };

function named(names: readonly string[]): Array<() => Promise<Curve[]>> {
  const unknown = names.find((name) => !Object.hasOwn(questions, name));
  if (unknown) throw new Error(`there is no curve '${unknown}'; there are ${Object.keys(questions).join(', ')}`);
  return Object.entries(questions).flatMap(([name, ask]) => (names.length === 0 || names.includes(name) ? [ask] : []));
}

function rowOf(curve: Curve): string[] {
  const { slope, power, word } = shapeOf(curve);
  const points = curve.points.map(([size, cost]) => `${short(size)}: ${short(cost)}`).join(', ');
  return [curve.name, `${curve.unit}, by ${curve.of}`, points, short(slope), short(power), word];
}

const { values, positionals } = parseArgs({ options: { write: { type: 'boolean' } }, allowPositionals: true });
const curves: Curve[] = [];
for (const ask of named(positionals)) {
  const more = await ask();
  for (const curve of more) console.log(rowOf(curve).join(' · '));
  curves.push(...more);
}
const table = tableOf(['what', 'in', 'measured', 'one more', 'power', 'shape'], curves.map(rowOf));
console.log(`\n${machine()}\n\n${table}`);
if (values.write) {
  const [before = '', rest = ''] = readFileSync(README, 'utf8').split(BEGIN);
  writeFileSync(README, `${before}${BEGIN}\n\n${machine()}.\n\n${table}\n\n${END}${rest.split(END)[1] ?? ''}`);
  writeFileSync(PICTURE, curvesPicture(curves));
}
process.exit(curves.some((curve) => shapeOf(curve).word === 'steepens') ? 1 : 0);
