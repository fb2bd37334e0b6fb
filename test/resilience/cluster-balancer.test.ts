// The topology of docker-compose.yml as processes: two gateways behind the balancer of deploy/haproxy.cfg, which ties nobody to either.
import { afterEach, expect, it, vi } from 'vitest';
import { type Balancer, startBalancer } from '../support/balancer.js';
import { type Gateways, startGateways, tokenFor } from '../support/gateways.js';
import { needs } from '../support/needs.js';
import { counting, Onlooker, upTo } from '../support/onlooker.js';
import { plainClient } from '../support/plain-client.js';
import { until } from '../support/redis.js';

// Several processes start and die in each test, and the machine may be busy with others.
vi.setConfig({ testTimeout: 90_000 });

/** The metric by which one process is told from another. */
const START = 'process_start_time_seconds';

needs(
  'redis-server',
  'redis-cli',
  'haproxy',
)('behind a balancer', () => {
  let gateways: Gateways;
  let balancer: Balancer;
  const open: Onlooker[] = [];
  const openAll = async (env: Readonly<Record<string, string>>, idle?: string) => {
    gateways = await startGateways({ env: { TRUST_PROXY: '1', ...env } });
    balancer = await startBalancer(gateways.replicas, idle);
  };
  /** Clients that all have one address, and come to whichever replica. */
  const look = (id: string, count: number, role: 'controller' | 'observer' = 'observer') => {
    const token = tokenFor('alice', role === 'controller' ? 'pty:control' : 'pty:observe');
    const onlookers = Array.from({ length: count }, () => new Onlooker({ url: gateways.urlOf(id, balancer), token, role }));
    open.push(...onlookers);
    return onlookers;
  };
  /** Attached to a program that prints nothing. */
  const quiet = async () => {
    const id = await gateways.begin(gateways.at(0), 'cat');
    const client = await plainClient(gateways.urlOf(id, balancer), tokenFor('alice', 'pty:observe'));
    await client.attach({ role: 'observer' });
    return client;
  };
  afterEach(async () => {
    for (const { client } of open.splice(0)) client.close();
    await balancer?.stop();
    await gateways?.dispose();
  });

  it('clients go on from their place while one replica after the other is restarted, until the one that runs their terminal ends it', async () => {
    await openAll({ DRAIN_SECONDS: '3' });
    const [owner, other] = [gateways.at(0), gateways.at(1)];
    const id = await gateways.begin(owner, ...counting(100_000, 0.02));
    const onlookers = look(id, 1, 'controller');
    const hasControl = () => onlookers[0]?.client.role === 'controller';
    await until('the first one controls', hasControl);
    for (let round = 0; round < 2; round++) {
      onlookers.push(...look(id, 3));
      for (const onlooker of onlookers) await onlooker.sees('n20\r\n');
      expect(await other.stop('SIGTERM')).toBe(0);
      await other.start();
      await until('the first one controls, wherever it is', hasControl);
      await until('new clients come to it', async () => (await metricOf(balancer, START)) === (await metricOf(other, START)));
    }
    // With nobody elsewhere the owner would not wait for those whom it sends away.
    await until('somebody is with the other one', async () => {
      onlookers.push(...look(id, 1));
      await onlookers.at(-1)?.isLive();
      return (await metricOf(other, 'pty_gateway_connections')) !== '0';
    });
    for (const onlooker of onlookers) await onlooker.sees('n20\r\n');
    const shown = Math.max(...onlookers.flatMap((onlooker) => onlooker.counted()));
    expect(await owner.stop('SIGTERM')).toBe(0);
    await until('the session is closed for all', () => onlookers.every(({ closed }) => closed.length > 0));
    const lines = onlookers[0]?.counted() ?? [];
    expect(lines).toEqual(upTo(lines.length));
    // It went on for all of them while the owner drained.
    expect(lines.length).toBeGreaterThan(shown + 20);
    for (const { closed, notices, numbers, text } of onlookers) {
      expect(closed).toMatchObject([{ reason: 'instance_terminated' }]);
      expect(notices).toEqual([]);
      expect({ numbers, text }).toEqual({ numbers: onlookers[0]?.numbers, text: onlookers[0]?.text });
    }
    // Those who were with a replica that went came back; the last ones were not.
    expect(onlookers.filter(({ states }) => states.includes('waiting')).length).toBeGreaterThanOrEqual(6);
  });

  it('a silent connection outlives the timeout, because it is pinged', async () => {
    await openAll({ HEARTBEAT_INTERVAL_SECONDS: '1', HEARTBEAT_TIMEOUT_SECONDS: '10' }, '3s');
    const client = await quiet();
    let pings = 0;
    client.ws.on('ping', () => pings++);
    await until('it was pinged for longer than the timeout', () => pings > 5);
    expect(client.closed).toBeUndefined();
    expect(client.frames.at(-1)).toMatchObject({ payload: { kind: 'Keyframe' } });
  });

  it('a silent connection that is not pinged in time is cut', async () => {
    await openAll({ HEARTBEAT_INTERVAL_SECONDS: '60', HEARTBEAT_TIMEOUT_SECONDS: '120' }, '3s');
    const client = await quiet();
    await until('the balancer cuts it', () => client.closed !== undefined);
    expect(client.closed?.code).toBe(1006);
  });
});

async function metricOf({ port }: { readonly port: number }, name: string): Promise<string | undefined> {
  const metrics = await fetch(`http://127.0.0.1:${port}/metrics`).then((answer) => answer.text());
  return new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1];
}
