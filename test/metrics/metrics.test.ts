// Metrics as they are told: whole from the start, in the words of the table, and as Prometheus wants them.
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { Metrics } from '../../src/metrics/metrics.js';
import { counters, gauges, histograms, PREFIX } from '../../src/metrics/table.js';
import { needs } from '../support/needs.js';
import { type Samples, samplesOf } from '../support/samples.js';

const told = async (metrics: Metrics): Promise<Samples> => samplesOf(await metrics.text());

/** With a reading for every gauge. */
function whole(): Metrics {
  const metrics = new Metrics();
  for (const [name, row] of Object.entries(gauges)) {
    const labels: object = 'labels' in row ? Object.fromEntries(Object.keys(row.labels).map((label) => [label, 'x'])) : {};
    metrics.read(name as keyof typeof gauges, () => [[labels as Record<string, string>, 1]]);
  }
  return metrics;
}

describe('metrics', () => {
  it('are there before anything has happened, at 0, with every label value that is known', async () => {
    const samples = await told(new Metrics());
    for (const [name, row] of Object.entries(counters)) {
      const labels = 'labels' in row ? Object.values(row.labels).map((values) => values.length) : [];
      const series = [...samples].filter(([key]) => key === PREFIX + name || key.startsWith(`${PREFIX}${name}{`));
      expect([name, series.length]).toEqual([name, labels.reduce((all, values) => all * values, 1)]);
      expect(series.map(([, value]) => value).every((value) => value === 0)).toBe(true);
    }
    for (const name of Object.keys(histograms)) expect(samples.get(`${PREFIX}${name}_count`)).toBe(0);
  });

  it('add up what is counted, with labels and without, however often they are asked for', async () => {
    const metrics = new Metrics();
    metrics.count('lagged_clients_total');
    metrics.count('terminal_output_bytes_total', 4096);
    metrics.count('terminal_output_bytes_total', 4);
    metrics.count('takeovers_total', 1, { outcome: 'closed' });
    await told(metrics);
    const samples = await told(metrics);
    expect(samples.get('pty_gateway_lagged_clients_total')).toBe(1);
    expect(samples.get('pty_gateway_terminal_output_bytes_total')).toBe(4100);
    expect(samples.get('pty_gateway_takeovers_total{outcome="closed"}')).toBe(1);
  });

  it('show what is read as it is now, and forget labels that are gone', async () => {
    const metrics = new Metrics();
    let agents = ['a', 'b'];
    metrics.read('agent_sessions', () => agents.map((agent) => [{ agent }, 1]));
    metrics.read('sent_frames_total', () => agents.length);
    expect((await told(metrics)).get('pty_gateway_agent_sessions{agent="a"}')).toBe(1);
    agents = ['b'];
    const samples = await told(metrics);
    expect([samples.has('pty_gateway_agent_sessions{agent="a"}'), samples.get('pty_gateway_sent_frames_total')]).toEqual([false, 1]);
  });

  it('are not told, not as 0 either, while there is nothing to be read', async () => {
    const metrics = new Metrics();
    let end: number | undefined;
    metrics.read('certificate_end_seconds', () => (end === undefined ? [] : [[{}, end]]));
    const told = async () => /^pty_gateway_certificate_end_seconds .*/m.exec(await metrics.text())?.[0];
    expect(await told()).toBeUndefined();
    end = 1_800_000_000;
    expect(await told()).toBe('pty_gateway_certificate_end_seconds 1800000000');
    end = undefined;
    expect(await told()).toBeUndefined();
  });

  it('sort durations into their buckets', async () => {
    const metrics = new Metrics();
    metrics.observe('log_append_seconds', 0.002);
    const samples = await told(metrics);
    const at = (bound: string) => samples.get(`pty_gateway_log_append_seconds_bucket{le="${bound}"}`);
    expect([at('0.001'), at('0.0025'), at('+Inf')]).toEqual([0, 1, 1]);
  });

  it('are the ones that docs/metrics.md tells of', () => {
    execFileSync(process.execPath, ['scripts/metrics-docs.mjs', '--check'], { stdio: 'pipe' });
  });
});

needs('promtool')('the page of metrics', () => {
  it('has no fault that promtool knows', async () => {
    const page = (await whole().text()).split('\n').filter((line) => /^(# (HELP|TYPE) )?pty_gateway_/.test(line));
    const said = execFileSync('promtool', ['check', 'metrics'], { input: `${page.join('\n')}\n`, encoding: 'utf8' });
    expect(said).toBe('');
  });
});
