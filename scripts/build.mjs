// Compiles the gateway (tsc, and a little C where the system needs it) and the page (vite) into dist/, and leaves a stamp by which `npm start` knows that it is up to date.
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { fingerprint, root, STAMP } from './fingerprint.mjs';
import { buildNative } from './native.mjs';

const run = (script, args) =>
  execFileSync(process.execPath, [`${root}/node_modules/${script}`, ...args], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });

rmSync(`${root}/dist`, { recursive: true, force: true });
run('typescript/bin/tsc', ['-p', 'tsconfig.build.json']);
buildNative();
if (existsSync(`${root}/web/index.html`)) run('vite/bin/vite.js', ['build', '--config', 'web/vite.config.ts', '--logLevel', 'warn']);
chmodSync(`${root}/dist/src/main.js`, 0o755);
writeFileSync(STAMP, fingerprint());
