// A picture of a session, and its history, are the same whichever replica is asked. Knows a session from outside alone.
import { afterEach, expect, it, vi } from 'vitest';
import { type Gateways, type Replica, startGateways, tokenFor } from '../support/gateways.js';
import { needs } from '../support/needs.js';

// Several processes start and die in each test, and the machine may be busy with others.
vi.setConfig({ testTimeout: 90_000 });

needs('redis-server', 'redis-cli')('two replicas of a session', () => {
  let gateways: Gateways;
  afterEach(() => gateways.dispose());

  it('give the same picture and the same frames, while it runs and when it has ended', async () => {
    gateways = await startGateways();
    const [one, two] = [gateways.at(0), gateways.at(1)];
    const id = await gateways.begin(one);
    const authorization = `Bearer ${tokenFor('alice', 'pty:admin')}`;
    const ask = (replica: Replica, query: string, method = 'GET') =>
      fetch(`http://127.0.0.1:${replica.port}/agents/shell/sessions/${id}${query}`, { method, headers: { authorization } });
    const both = async (query: string) => Promise.all([one, two].map(async (replica) => (await ask(replica, query)).text()));
    const same = async () => {
      for (const query of ['/screen?format=svg', '/transcript?format=frames', '/transcript?format=index']) {
        await expect.poll(async () => new Set(await both(query)).size, { message: query, timeout: 20_000 }).toBe(1);
      }
    };
    await expect.poll(async () => (await ask(two, '/screen?format=svg')).text(), { timeout: 20_000 }).toContain('>$</text>');
    await same();
    const png = await ask(two, '/screen?format=png');
    expect(png.headers.get('etag')).toBe((await ask(one, '/screen?format=png')).headers.get('etag'));
    expect((await ask(two, '', 'DELETE')).status).toBe(202);
    await expect.poll(async () => ((await (await ask(two, '')).json()) as { state: string }).state, { timeout: 20_000 }).toBe('closed');
    await same();
  });
});
