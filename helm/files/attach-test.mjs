// What `helm test` runs in the gateway's image: a session through the Service is attached to, typed into, and answers. Knows no chart.
import { execFileSync } from 'node:child_process';

const app = process.env.APP_DIR ?? '/app';
const gateway = process.env.GATEWAY_URL;
const instance = process.env.INSTANCE;
/** How long all of it may take, in milliseconds. */
const PATIENCE_MS = 60_000;

setTimeout(() => fail(`nothing was seen for ${PATIENCE_MS / 1000} s`), PATIENCE_MS).unref();

function fail(why) {
  console.error(`failed: ${why}`);
  process.exit(1);
}

function tokenOf() {
  if (process.env.TOKEN) return process.env.TOKEN;
  if (!process.env.AUTH_JWT_SECRET) {
    console.log('skipped: tokens are signed by somebody else; set TOKEN to one with pty:control');
    process.exit(0);
  }
  const minted = execFileSync(process.execPath, [
    `${app}/dist/src/main.js`,
    'token',
    '--scope',
    'pty:control',
    '--sub',
    'helm-test',
    '--ttl',
    '5m',
  ]);
  return minted.toString().trim();
}

async function begin(token) {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${gateway}/agents/${instance}/sessions`, { method: 'POST', headers });
  const body = await answer.json();
  if (answer.status !== 201) fail(`a session was refused with ${answer.status}: ${body.error?.message}`);
  return body;
}

const token = tokenOf();
const session = await begin(token);
const url = `${gateway.replace(/^http/, 'ws')}/agents/${instance}/sessions/${session.session_id}/attach`;
const { connect } = await import(`${app}/dist/src/client/node.js`);
const terminal = connect({ url, token, role: 'controller' });
terminal.on('error', ({ code, message }) => fail(`${code}: ${message}`));
terminal.on('output', async () => {
  const headers = { authorization: `Bearer ${token}` };
  console.log(`attached to session ${session.session_id} on ${session.replica_id}: it answers`);
  terminal.close();
  await fetch(`${gateway}/agents/${instance}/sessions/${session.session_id}`, { method: 'DELETE', headers });
  process.exit(0);
});
terminal.on('state', ({ name }) => {
  if (name === 'live') terminal.input('\r');
});
