// The alerts of the chart: when each fires, and that the runbook says what to do then.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { counters, gauges, histograms, PREFIX } from '../../src/metrics/table.js';
import { needs } from '../support/needs.js';

interface Rule {
  readonly alert?: string;
  readonly expr: string;
  readonly annotations?: { readonly runbook_url: string };
}

const rules: Rule[] = parse(readFileSync('helm/files/rules.yml', 'utf8')).groups.flatMap((group: { rules: Rule[] }) => group.rules);
const alerts = rules.filter(({ alert }) => alert !== undefined);

describe('the rules of the chart', () => {
  it('have a place in the runbook for each alert, and it links there', () => {
    const places = [...readFileSync('docs/runbook.md', 'utf8').matchAll(/^## (.+)$/gm)].map(([, name]) => name);
    expect(places).toEqual(alerts.map(({ alert }) => alert));
    for (const { alert, annotations } of alerts) expect(annotations?.runbook_url).toBe(`docs/runbook.md#${alert?.toLowerCase()}`);
  });

  it('are tested, each of them', () => {
    const tests = readFileSync('test/deploy/rules.test.yml', 'utf8');
    expect(alerts.filter(({ alert }) => !tests.includes(`${alert}`))).toEqual([]);
  });

  it('speak of metrics that there are', () => {
    const told = new Set([...Object.keys(gauges), ...Object.keys(counters), ...Object.keys(histograms).map((name) => `${name}_bucket`)]);
    const named = rules.flatMap(({ expr }) => [...expr.matchAll(/pty_gateway_\w+/g)].map(([name]) => name.slice(PREFIX.length)));
    expect(named.filter((name) => !told.has(name))).toEqual([]);
  });
});

needs('promtool')('Prometheus', () => {
  it('takes the rules', () => {
    expect(execFileSync('promtool', ['check', 'rules', 'helm/files/rules.yml'], { encoding: 'utf8' })).toMatch(/SUCCESS: \d+ rules found/);
  });

  it('fires each alert when it should, and none while all is well', () => {
    execFileSync('promtool', ['test', 'rules', 'test/deploy/rules.test.yml'], { stdio: 'pipe' });
  });
});
