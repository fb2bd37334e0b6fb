// Builds the page into dist/web. Relative addresses only, so that it works under any path prefix.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here('.'),
  base: './',
  build: {
    outDir: here('../dist/web'),
    emptyOutDir: true,
    target: 'es2022',
    // Inlined files would be data: addresses, and the polyfill an inline script; the content security policy has neither.
    assetsInlineLimit: 0,
    modulePreload: false,
  },
});
