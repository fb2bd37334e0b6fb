// Embedded logs for the suite that every log runs. Knows no test.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedLogOptions, openEmbeddedLog } from '../../src/log/embedded/embedded-log.js';
import type { Bench, Over } from './contract.js';

/** A log in a folder of its own; `over` puts another one on top of it. */
export async function embeddedBench(options: Partial<EmbeddedLogOptions> = {}, over: Over = (log) => log): Promise<Bench> {
  const dir = await mkdtemp(join(tmpdir(), 'log-'));
  let time = 1_700_000_000_000;
  const now = () => time;
  let log = over(await openEmbeddedLog({ dir, now, ...options }), now);
  return {
    log,
    now,
    advance: (ms) => {
      time += ms;
    },
    reopen: async () => {
      await log.close();
      log = over(await openEmbeddedLog({ dir, now, ...options }), now);
      return log;
    },
    dispose: async () => {
      await log.close();
      await rm(dir, { recursive: true });
    },
  };
}
