// Compiles src/terminal/descriptors.c to dist/descriptors.node. Linux only; without a C compiler it says so and goes on.
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync } from 'node:fs';
import { root } from './fingerprint.mjs';

export function buildNative() {
  if (process.platform !== 'linux') return;
  const target = `${root}/dist/descriptors.node`;
  const fresh = `${target}.${process.pid}`;
  mkdirSync(`${root}/dist`, { recursive: true });
  const flags = ['-O2', '-Wall', '-Wextra', '-shared', '-fPIC'];
  try {
    execFileSync(process.env.CC ?? 'cc', [...flags, '-o', fresh, `${root}/src/terminal/descriptors.c`], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    renameSync(fresh, target);
  } catch (error) {
    console.warn(`descriptors.node was not built (${error.message}): programs will inherit the descriptors of other terminals.`);
  }
}
