// `npm start`: builds if the sources have changed since the last build, then serves.
import { isBuilt } from './fingerprint.mjs';

if (!isBuilt()) await import('./build.mjs');
process.argv.splice(2, 0, 'serve');
await import('../dist/src/main.js');
