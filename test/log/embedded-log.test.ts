// The embedded log: the contract, and what is of files only.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedLogOptions, openEmbeddedLog } from '../../src/log/embedded-log.js';
import { type Bench, logContract } from './contract.js';

async function bench(options: Partial<EmbeddedLogOptions>): Promise<Bench> {
  const dir = await mkdtemp(join(tmpdir(), 'log-'));
  let time = 1_700_000_000_000;
  const now = () => time;
  let log = await openEmbeddedLog({ dir, now, ...options });
  return {
    log,
    now,
    advance: (ms) => {
      time += ms;
    },
    reopen: async () => {
      await log.close();
      log = await openEmbeddedLog({ dir, now, ...options });
      return log;
    },
    dispose: async () => {
      await log.close();
      await rm(dir, { recursive: true });
    },
  };
}

logContract('the embedded log', () => bench({}));
logContract('the embedded log in tiny segments', () => bench({ segmentBytes: 700 }));
