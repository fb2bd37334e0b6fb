import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocksOf, shell } from './support/document.js';
import { freePort } from './support/free-port.js';

const root = path.resolve(import.meta.dirname, '..');
const document = readFileSync(path.join(root, 'docs/operations.md'), 'utf8');

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'operations-'));
});
afterAll(() => rm(dir, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 }), 30_000);

describe("The operator's guide", () => {
  it('looks before the start, changes how much is logged, drains, backs up and restores as it says', { timeout: 180_000 }, async () => {
    const port = await freePort();
    const script = blocksOf(document, 'sh').join('\n').replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`);
    const env = { PORT: `${port}`, PTY_GATEWAY_URL: `http://127.0.0.1:${port}`, DATA_DIR: path.join(dir, 'data'), HOME: dir };
    const { code, out } = await shell(script, root, env);
    expect(out).toMatch(/^ok {4}settings: /m);
    expect(out).toMatch(/^REPLICA .*\n\S+ +ready /m);
    expect(out).toMatch(/ logs at debug\n\S+ logs at info\n/);
    expect(out).toMatch(/ has ended\n/);
    expect(out).toMatch(/lines, all as they were written/);
    expect(code).toBe(0);
  });

  it('names files that are there', async () => {
    for (const [, target] of document.matchAll(/\]\(([^)#]+)\)/g)) await readFile(path.join(root, 'docs', target as string));
  });
});
