// Tells whether dist/ was built from the sources as they are. Knows no compiler.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
export const STAMP = path.join(root, 'dist/.built-from');
const sources = ['src', 'plugins', 'routes', 'web', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];

function* files(file) {
  if (!statSync(file).isDirectory()) return yield file;
  for (const name of readdirSync(file).sort()) yield* files(path.join(file, name));
}

/** A hash over the sources' names and contents. */
export function fingerprint() {
  const hash = createHash('sha256');
  for (const source of sources)
    for (const file of files(path.join(root, source))) hash.update(path.relative(root, file)).update(readFileSync(file));
  return hash.digest('hex');
}

export function isBuilt() {
  try {
    return readFileSync(STAMP, 'utf8') === fingerprint();
  } catch {
    return false;
  }
}
