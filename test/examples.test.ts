// The examples, run as the README says, against a gateway of their own.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mintToken } from '../src/token.js';
import { type RunningGateway, startGateway } from './support/running-gateway.js';

const secret = 'a secret of the tests, long enough for HS256';
let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await startGateway({ AUTH_JWT_SECRET: secret });
});
afterAll(() => gateway.stop());

/** What an example prints. */
async function run(example: string, ...args: string[]): Promise<string> {
  const token = mintToken(secret, { sub: 'agent', scope: 'pty:control', ttlSeconds: 60 });
  const { stdout } = await promisify(execFile)(process.execPath, [`examples/${example}`, ...args], {
    env: { ...process.env, PTY_GATEWAY_TOKEN: token },
    timeout: 60_000,
  });
  return stdout;
}

it('run-the-tests sends a command, prints what it prints, cancels, and a person saw it all', async () => {
  const out = await run('run-the-tests.mjs', `http://127.0.0.1:${gateway.port}/agents/shell`, 'for i in 1 2 3; do echo "ok $i"; done');
  expect(out).toMatch(
    /^[^\n]+: [^\n]+\n[\s\S]*ok 1\s+ok 2\s+ok 3\s[\s\S]*The task is TASK_STATE_INPUT_REQUIRED\.\nThe task is TASK_STATE_CANCELED\.\nThe person saw [1-9]\d* bytes; then: /,
  );
});
