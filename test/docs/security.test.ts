// What docs/security.md says of tests.
import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it('The threat model names tests that are there', () => {
  const [, table = ''] = /\| row .*\n\| -.*\n((?:\|.*\n)+)/.exec(readFileSync('docs/security.md', 'utf8')) ?? [];
  const named = [...table.matchAll(/`([\w-]+\/[\w*-]+)`/g)].map(([, name]) => `test/${name}`);
  expect(named.length).toBeGreaterThan(30);
  const isThere = (name: string) => existsSync(name.endsWith('/*') ? name.slice(0, -2) : `${name}.test.ts`);
  expect(named.filter((name) => !isThere(name))).toEqual([]);
});
