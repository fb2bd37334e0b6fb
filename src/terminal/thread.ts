// Starts a worker thread, from compiled code or from source. Knows no work.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/** Compiled, a worker stands beside the file that starts it; run from source (tests, benchmarks), it is TypeScript as well, and tsx loads it. */
export const workerBeside = (file: string, name: string): URL => new URL(`./${name}${file.endsWith('.ts') ? '.ts' : '.js'}`, file);

export function startThread(script: URL, options: WorkerOptions): Worker {
  const own = { ...options, execArgv: [] };
  return script.pathname.endsWith('.ts') ? new Worker(throughTsx(script), { ...own, eval: true }) : new Worker(script, own);
}

/** A thread does not take tsx over from the command line. */
function throughTsx(script: URL): string {
  const tsx = pathToFileURL(createRequire(import.meta.url).resolve('tsx/package.json'));
  const api = new URL('./dist/esm/api/index.mjs', tsx).href;
  return `import(${JSON.stringify(api)}).then(({ register }) => (register(), import(${JSON.stringify(script.href)})));`;
}
