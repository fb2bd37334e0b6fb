// What a browser loads of the client: small, and nothing that only Node has.
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build, type Rollup } from 'vite';
import { expect, it } from 'vitest';

it('builds for a browser without Buffer, node modules or a schema library, in 10 KB', async () => {
  const entry = fileURLToPath(new URL('../../src/client/index.ts', import.meta.url));
  const built = await build({
    configFile: false,
    logLevel: 'error',
    build: { write: false, minify: true, lib: { entry, formats: ['es'], fileName: 'client' } },
  });
  const { output } = (Array.isArray(built) ? built[0] : built) as Rollup.RollupOutput;
  expect(output).toHaveLength(1);
  const { code, imports, modules } = output[0];
  expect(imports).toEqual([]);
  expect(Object.keys(modules).filter((name) => !name.includes('/src/'))).toEqual([]);
  expect(code).not.toMatch(/\bBuffer\b|node:|\brequire\(/);
  expect(gzipSync(code).length).toBeLessThan(10_000);
});
