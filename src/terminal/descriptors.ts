// Keeps the gateway's descriptors out of the programs that it starts. Knows no PTY.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Where scripts/native.mjs puts it, seen from src/ and from dist/src/. */
const PLACES = ['../../dist/descriptors.node', '../../descriptors.node'];

/** Marks all open descriptors but 0, 1 and 2; true if it could. */
type Keep = () => boolean;

let keep: Keep | undefined;

/**
 * To be called right before a program is started by anything that does not see to it: whatever is open now is closed in that program.
 * Where the compiled part is missing, it warns once, and programs inherit the terminals that were open before them. macOS needs none.
 */
export function keepDescriptors(): void {
  if (process.platform !== 'linux') return;
  keep ??= load();
  if (!keep()) warn('the system refused to mark descriptors');
}

function load(): Keep {
  const file = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url))).find((path) => existsSync(path));
  try {
    if (file !== undefined) return createRequire(import.meta.url)(file) as Keep;
    warn('dist/descriptors.node is missing; `npm run build` makes it, and needs a C compiler');
  } catch (error) {
    warn(`dist/descriptors.node cannot be loaded: ${(error as Error).message}`);
  }
  return () => true;
}

function warn(reason: string): void {
  process.emitWarning(`Programs in terminals inherit the descriptors of other terminals: ${reason}.`, { code: 'PTY_DESCRIPTORS' });
  keep = () => true;
}
