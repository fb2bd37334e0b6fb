// The recipes of docs/agents.md whose programs are here: each is begun as the file says it, and answers a message.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mintToken } from '../src/access/token.js';
import { connect } from '../src/client/node.js';
import { blocksOf } from './support/document.js';
import { needs } from './support/needs.js';
import { type RunningGateway, startGateway } from './support/running-gateway.js';

const secret = 'a secret of the tests, long enough for HS256';
const token = mintToken(secret, { sub: 'ann', scope: 'pty:admin', ttlSeconds: 3600 });

needs('python3', 'tmux')('The recipe', () => {
  let gateway: RunningGateway;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'recipes-'));
    const file = join(folder, 'agents.yaml');
    const recipes = blocksOf(await readFile('docs/agents.md', 'utf8'), 'yaml')[0] as string;
    // A tmux of its own: nobody's desk is sat down at.
    await writeFile(file, recipes.replaceAll('["tmux", ', `["tmux", "-L", "recipes-${process.pid}", `));
    gateway = await startGateway({ AUTH_JWT_SECRET: secret, AGENTS_FILE: file });
  });
  afterAll(async () => {
    await gateway?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it.each([
    ['shell', 'echo "$((6 * 7))"'],
    ['python', 'print(6 * 7)'],
    ['desk', 'echo "$((6 * 7))"'],
  ])('%s answers %s', async (agent, message) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const sessions = `http://127.0.0.1:${gateway.port}/agents/${agent}/sessions`;
    const { pty_ws_url } = (await (await fetch(sessions, { method: 'POST', headers, body: '{}' })).json()) as { pty_ws_url: string };
    const client = connect({ url: pty_ws_url, token, role: 'controller' });
    await client.live();
    const task = await client.send(message);
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const artifacts = task.artifacts as Array<{ name: string; parts: Array<{ text: string }> }>;
    expect(artifacts.find(({ name }) => name === 'output')?.parts[0]?.text).toMatch(/^42$/m);
    client.input(agent === 'python' ? 'exit()\r' : 'exit\r');
    await client.ended;
  });
});
