// The dashboard of the chart: what its script writes, and that each of its expressions shows something of real gateways at work.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { type Dashboard, expressions, plain } from '../../bench/support/dashboard.js';
import { type Gateways, startGateways, tokenFor } from '../support/gateways.js';
import { needs } from '../support/needs.js';
import { Onlooker } from '../support/onlooker.js';
import { Prometheus } from '../support/prometheus.js';
import { until } from '../support/redis.js';
import { startGateway } from '../support/running-gateway.js';

vi.setConfig({ testTimeout: 120_000 });

const dashboard: Dashboard = JSON.parse(readFileSync('helm/dashboards/pty-gateway.json', 'utf8'));

describe('the dashboard', () => {
  it('is what its script writes', () => {
    execFileSync(process.execPath, ['scripts/dashboard.mjs', '--check'], { stdio: 'pipe' });
  });

  it('has panels that do not lie over each other', () => {
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => `${x + (i % w)},${y + Math.floor(i / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });
});

needs(
  'prometheus',
  'redis-server',
  'redis-cli',
)('every panel of the dashboard', () => {
  it('shows something of two replicas at work, and of one alone', async () => {
    const gateways = await startGateways();
    const alone = await startGateway();
    const rest = await atWork(gateways);
    const prometheus = await Prometheus.start([...gateways.replicas, alone].map(({ port }) => port));
    try {
      for (const { title, expr } of expressions(dashboard)) {
        await until(`${title} shows something: ${expr}`, async () => isShown(await prometheus.ask(plain(expr))));
      }
    } finally {
      rest();
      await prometheus.dispose();
      await alone.stop();
      await gateways.dispose();
    }
  });
});

const isShown = (samples: ReadonlyArray<{ readonly value: number }>): boolean => samples.some(({ value }) => Number.isFinite(value));

/** A session that prints without end, and somebody who comes to it anew each second, through either replica. Returns the way to stop. */
async function atWork(gateways: Gateways): Promise<() => void> {
  const id = await gateways.begin(gateways.at(0), '/bin/bash', '-c', 'while sleep 0.02; do date; done');
  const present: Onlooker[] = [];
  let coming = 0;
  const come = () => {
    present.shift()?.client.close();
    const url = gateways.urlOf(id, gateways.at(coming++ % 2));
    present.push(new Onlooker({ url, token: tokenFor('somebody', 'pty:observe') }));
  };
  come();
  const again = setInterval(come, 1000);
  return () => {
    clearInterval(again);
    for (const { client } of present) client.close();
  };
}
