// A rolling restart of the chart's pods while many watch: what is shown to each of them is whole. bench/rolling.ts is the same, larger and timed.
import { expect, it, vi } from 'vitest';
import { balancers, rollingRestart } from '../../bench/support/rolling.js';
import { needs } from '../support/needs.js';

vi.setConfig({ testTimeout: 180_000 });

needs(
  'helm',
  'redis-server',
  'redis-cli',
  'haproxy',
  'nginx',
)('a rolling restart of three pods', () => {
  it.each(Object.keys(balancers) as Array<keyof typeof balancers>)(
    'behind %s loses no frame, and no session that can go on',
    async (behind) => {
      const load = { sessions: 4, attachments: 12, interval: 0.05 };
      const { verdict, replaced } = await rollingRestart(behind, load, ['preStopSeconds=1', 'drainSeconds=3']);
      expect(verdict.words).toEqual([]);
      expect(verdict.isClean).toBe(true);
      // All ended by themselves within their grace, and somebody was moved each time.
      expect(replaced.map(({ code }) => code)).toEqual([0, 0, 0]);
      expect(verdict.gaps.length).toBeGreaterThan(0);
      expect(verdict.continued).toBe(load.sessions / 2);
    },
  );
});
