// The scripts take from the build what is there: nothing else would notice that a part has moved. Knows no script.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const folder = new URL('../scripts/', import.meta.url);
const scripts = readdirSync(folder).filter((name) => name.endsWith('.mjs'));
const taken = scripts.flatMap((script) => {
  const text = readFileSync(new URL(script, folder), 'utf8');
  return [...text.matchAll(/import \{ ([^}]+) \} from '\.\.\/dist\/([^']+)\.js'/g)].map(([, names = '', part = '']) => ({
    script,
    names,
    part,
  }));
});

it.each(taken)('$script finds $names in $part', ({ names, part }) => {
  const source = readFileSync(new URL(`../${part}.ts`, import.meta.url), 'utf8');
  const given = [...source.matchAll(/^export (?:async )?(?:function|const|class) (\w+)/gm)].map(([, name]) => name);
  expect(given).toEqual(expect.arrayContaining(names.split(', ')));
});
