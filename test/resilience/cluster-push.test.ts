// Receivers of push notifications, over https, when replicas die or end: each fault is really made. Knows a task from outside alone.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Gateways, type Replica, startGateways, tokenFor } from '../support/gateways.js';
import { needs } from '../support/needs.js';
import { openReceiver, type Receiver } from '../support/receiver.js';

// Several processes start and die in each test, and the machine may be busy with others.
vi.setConfig({ testTimeout: 60_000 });

/** A certificate for localhost that only who is told of it trusts. */
async function certificate(folder: string): Promise<{ key: string; cert: string; file: string }> {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  await promisify(execFile)('openssl', ['req', '-x509', '-days', '1', ...curve, '-keyout', key, '-out', cert, ...subject]);
  return { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8'), file: cert };
}

needs(
  'redis-server',
  'redis-cli',
  'openssl',
)('of two replicas', () => {
  let folder: string;
  let receiver: Receiver;
  let gateways: Gateways;
  let isUp = true;

  beforeEach(async () => {
    isUp = true;
    folder = await mkdtemp(join(tmpdir(), 'push-'));
    const { file, ...tls } = await certificate(folder);
    receiver = await openReceiver({ tls, reply: () => (isUp ? 204 : 503) });
    gateways = await startGateways({ env: { PUSH_ALLOWED_HOSTS: 'localhost', NODE_EXTRA_CA_CERTS: file, DRAIN_SECONDS: '2' } });
  });
  afterEach(async () => {
    await gateways.dispose();
    await receiver.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function say(to: Replica, text: string, more: object): Promise<{ id: string }> {
    const message = { messageId: text, role: 'ROLE_USER', parts: [{ text }] };
    const answer = await fetch(`http://127.0.0.1:${to.port}/agents/shell/a2a/v1/message:send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokenFor('somebody', 'pty:control')}`, 'content-type': 'application/json', 'a2a-version': '1.0' },
      body: JSON.stringify({ message, ...more }),
    });
    return ((await answer.json()) as { task: { id: string } }).task;
  }
  const toReceiver = () => ({ configuration: { taskPushNotificationConfig: { url: receiver.url } } });
  const states = () =>
    receiver.events().flatMap(({ statusUpdate }) => (statusUpdate ? [(statusUpdate.status as { state: string }).state] : []));
  const isTold = (state: string) => receiver.until(() => states().includes(state));

  it('the one that is left tells that the task has failed when its replica was killed', async () => {
    const { id } = await say(gateways.at(0), 'echo hello', toReceiver());
    await isTold('TASK_STATE_INPUT_REQUIRED');
    await gateways.at(0).stop('SIGKILL');
    await isTold('TASK_STATE_FAILED');
    const last = receiver.events().at(-1)?.statusUpdate;
    expect([last?.taskId, states()[0]]).toEqual([id, 'TASK_STATE_WORKING']);
  });

  it('one that ends in order has told the end of its tasks before it is gone', async () => {
    await say(gateways.at(0), 'echo hello', toReceiver());
    expect(await gateways.at(0).stop('SIGTERM')).toBe(0);
    expect(states().at(-1)).toBe('TASK_STATE_FAILED');
  });

  it('what one that ends in order could not tell is told by the other', async () => {
    await say(gateways.at(0), 'echo hello', toReceiver());
    await isTold('TASK_STATE_INPUT_REQUIRED');
    isUp = false;
    expect(await gateways.at(0).stop('SIGTERM')).toBe(0);
    expect(states()).not.toContain('TASK_STATE_FAILED');
    isUp = true;
    await isTold('TASK_STATE_FAILED');
  });
});
