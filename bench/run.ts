// `npm run bench`: asks all questions, or those that are named, each in rounds in which all who are measured run one after another.
// npm run bench -- [QUESTION…] [--rounds 5] [--write | --baseline | --compare]
import { parseArgs } from 'node:util';
import { questions } from './questions/index.js';
import { type Asked, ask } from './support/asking.js';
import { compare, storeBaseline } from './support/baseline.js';
import { machine } from './support/machine.js';
import { tell, writeReport } from './support/report.js';

const { positionals: names, values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    write: { type: 'boolean', default: false },
    baseline: { type: 'boolean', default: false },
    compare: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds is ${values.rounds}; expected a whole number above 0`);
const unknown = names.find((name) => !questions.some((question) => question.name === name));
if (unknown !== undefined) throw new Error(`there is no question ${unknown}; there are ${questions.map(({ name }) => name).join(', ')}`);

const asked: Asked[] = [];
console.log(machine());
for (const question of questions) {
  if (names.length > 0 && !names.includes(question.name)) continue;
  const one = await ask(question, rounds);
  tell(one);
  asked.push(one);
}
if (values.write) writeReport(asked);
if (values.baseline) storeBaseline(asked);
const hasChanged = values.compare && compare(asked);
process.exit(hasChanged ? 1 : 0);
