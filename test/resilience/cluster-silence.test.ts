// What others say of the sessions of a replica that is believed alive and does not answer. Knows a session from outside alone.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Gateways, startGateways } from '../support/gateways.js';
import { needs } from '../support/needs.js';

// Several processes start and die in each test, and the machine may be busy with others.
vi.setConfig({ testTimeout: 60_000 });

needs('redis-server')('of two replicas, the one that is silent', () => {
  let gateways: Gateways;
  beforeEach(async () => {
    gateways = await startGateways({ env: { REPLICA_LEASE_SECONDS: '60' } });
  });
  afterEach(() => gateways.dispose());

  it('has its sessions listed by the other as they are known to run; who asks for one is told to try again', async () => {
    const [silent, other] = [gateways.at(0), gateways.at(1)];
    const { session_id: id } = (await gateways.ask(silent, 'POST', '', { label: 'still here' })).body;
    silent.signal('SIGSTOP');
    const { status, body } = await gateways.ask(other, 'GET', '');
    expect(status).toBe(200);
    expect(body.sessions).toMatchObject([{ session_id: id, label: 'still here', state: 'running', replica_id: silent.id }]);
    expect(await gateways.ask(other, 'GET', `/${id}`)).toMatchObject({ status: 503, body: { error: { code: 'INTERNAL' } } });
    silent.signal('SIGCONT');
    await expect.poll(async () => (await gateways.ask(other, 'GET', `/${id}`)).status, { timeout: 20_000 }).toBe(200);
  });
});
