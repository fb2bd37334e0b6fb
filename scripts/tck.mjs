// Runs the A2A conformance kit (github.com/a2aproject/a2a-tck, branch 1.0-dev) against the fixture agent. Knows no test of it.
// The kit sends no tokens, so it speaks through a small proxy that adds one. Usage: see docs/a2a.md.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { mintToken } from '../dist/src/access/token.js';
import { buildApp, listen } from '../dist/src/app.js';
import { readConfig } from '../dist/src/config.js';

const [python, kit, ...pytestArgs] = process.argv.slice(2);
if (!python || !kit) {
  console.error('usage: node scripts/tck.mjs PYTHON FOLDER_OF_THE_KIT [pytest arguments]');
  process.exit(2);
}

const secret = randomBytes(32).toString('base64url');
const token = mintToken(secret, { sub: 'tck', scope: 'pty:control', ttlSeconds: 3600 });
const dataDir = mkdtempSync(path.join(tmpdir(), 'tck-'));
let port;

/** Hands everything on, with the token. */
const proxy = http.createServer((request, response) => {
  const headers = { ...request.headers, authorization: `Bearer ${token}` };
  const asked = http.request({ port, host: '127.0.0.1', method: request.method, path: request.url, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    response.flushHeaders();
    answer.pipe(response);
  });
  asked.on('error', () => response.destroy());
  response.on('close', () => asked.destroy());
  request.pipe(asked);
});
await once(proxy.listen(0, '127.0.0.1'), 'listening');
const address = `http://127.0.0.1:${proxy.address().port}`;

const app = await buildApp(
  readConfig({
    ...process.env,
    PORT: '0',
    PUBLIC_URL: address,
    AUTH_JWT_SECRET: secret,
    A2A_FIXTURE: 'on',
    DATA_DIR: dataDir,
    LOG_LEVEL: process.env.LOG_LEVEL ?? 'error',
    RATE_LIMIT_MAX: '100000',
    // Where the kit waits for push notifications.
    PUSH_ALLOWED_HOSTS: 'localhost',
  }),
);
await listen(app);
port = app.server.address().port;

const args = ['-m', 'pytest', 'tests/compatibility/', `--sut-host=${address}/agents/a2a-fixture`, '--tb=short', '-q', ...pytestArgs];
const [code] = await once(spawn(python, args, { cwd: kit, stdio: 'inherit' }), 'exit');
proxy.close();
proxy.closeAllConnections();
app.server.closeAllConnections();
await app.close();
rmSync(dataDir, { recursive: true, force: true });
process.exit(code ?? 1);
