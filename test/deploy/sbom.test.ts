// The list of what the gateway is made of, beside what npm says is installed without development.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly hashes: ReadonlyArray<{ readonly content: string }>;
}
interface Bom {
  readonly components: readonly Component[];
  readonly dependencies: ReadonlyArray<{ readonly ref: string; readonly dependsOn: readonly string[] }>;
}
interface Listed {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, Listed>>;
}

const folder = mkdtempSync(join(tmpdir(), 'sbom-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(): string {
  const file = join(folder, 'sbom.json');
  execFileSync('node', ['scripts/sbom.mjs', file]);
  return readFileSync(file, 'utf8');
}

/** `name@version` of a tree, without doubles. */
function listed({ dependencies = {} }: Listed): string[] {
  const all = Object.entries(dependencies).flatMap(([name, one]) => [...(one.version ? [`${name}@${one.version}`] : []), ...listed(one)]);
  return [...new Set(all)].sort();
}

it('The bill of materials names every package that is installed without development, and needs nothing that it does not name', () => {
  const bom: Bom = JSON.parse(write());
  const tree = JSON.parse(execFileSync('npm', ['ls', '--all', '--omit=dev', '--package-lock-only', '--json'], { encoding: 'utf8' }));
  const named = bom.components.map(({ name, version }) => `${name}@${version}`);
  expect([...new Set(named)].sort()).toEqual(expect.arrayContaining(listed(tree)));
  const refs = new Set(bom.dependencies.map(({ ref }) => ref));
  expect(bom.dependencies.flatMap(({ dependsOn }) => dependsOn.filter((ref) => !refs.has(ref)))).toEqual([]);
  expect(bom.components.filter(({ hashes }) => !/^[0-9a-f]{128}$/.test(hashes[0]?.content ?? ''))).toEqual([]);
  expect(named.filter((one) => /^(vitest|typescript|fast-check)@/.test(one))).toEqual([]);
});

it('is the same for the same lock file', () => {
  expect(write()).toBe(write());
});
