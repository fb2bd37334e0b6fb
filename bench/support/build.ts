// Another version of the gateway, built from a commit of the history in a folder of its own; gone when it is disposed of. Knows no process.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface Build {
  /** The commit, shortened. */
  readonly commit: string;
  /** The folder of what was built. */
  readonly folder: string;
  dispose(): Promise<void>;
}

/** With the packages that are installed here: an older version has to run with those of this one's lock file, or be tried by hand. */
export async function buildCommit(ref: string): Promise<Build> {
  const { stdout } = await run('git', ['rev-parse', '--short', '--verify', `${ref}^{commit}`]);
  const commit = stdout.trim();
  const root = await mkdtemp(join(tmpdir(), `build-${commit}-`));
  const dispose = () => rm(root, { recursive: true, force: true });
  try {
    await run('sh', ['-c', 'git archive "$0" | tar -x -C "$1"', commit, root]);
    await symlink(resolve('node_modules'), join(root, 'node_modules'));
    await run(process.execPath, ['scripts/build.mjs'], { cwd: root });
    return { commit, folder: join(root, 'dist'), dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}
