// Programs that a test cannot do without. A missing one is reported by name as skipped; with CI=true it is a failure.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, it } from 'vitest';

/** Where a program is on the PATH; undefined if it is not there. */
export function onPath(program: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, program)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * `describe` for tests that need these programs. Where one is missing, the suite is skipped under a name that says which; with CI=true
 * it fails instead, so that nothing goes untested unnoticed.
 */
export function needs(...programs: readonly string[]): (name: string, suite: () => void) => void {
  const missing = programs.filter((program) => onPath(program) === undefined);
  if (missing.length === 0) return (name, suite) => void describe(name, suite);
  const why = `needs ${missing.join(', ')} on the PATH`;
  if (process.env.CI !== 'true') return (name, suite) => void describe.skip(`${name} (${why})`, suite);
  return (name) =>
    void describe(name, () => {
      it(why, () => {
        throw new Error(`${why}, and CI=true: install it, as .ci/run does`);
      });
    });
}
