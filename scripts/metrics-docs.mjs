// Writes docs/metrics.md from the table of metrics in the build. With --check, fails if that would change it.
import { readFileSync, writeFileSync } from 'node:fs';
import { counters, gauges, histograms, PREFIX } from '../dist/src/metrics/table.js';

const file = new URL('../docs/metrics.md', import.meta.url);

const labelsOf = ({ labels = {} }) =>
  Object.entries(labels)
    .map(([name, values]) => `\`${name}\`${values.length > 0 ? `: ${values.join(', ')}` : ''}`)
    .join('; ');
const rowOf = ([name, row]) => `| \`${PREFIX}${name}\` | ${labelsOf(row)} | ${row.help} |`;
const table = (rows) => `| name | labels | |\n| --- | --- | --- |\n${Object.entries(rows).map(rowOf).join('\n')}`;

const page = `# Metrics

\`GET /metrics\` tells of one replica, for Prometheus. It wants no token and is outside the rate limits; whoever should not read it has to be kept from it
by the network. Numbers are in base units, seconds and bytes; labels have few values, and none is a session, a principal or an address. Beside these there
are those of the process and of Node (\`process_…\`, \`nodejs_…\`), of which \`nodejs_eventloop_lag_p99_seconds\` and \`process_cpu_seconds_total\` say most.

Counting costs an addition; what can be read when Prometheus asks is not counted at all. \`npm run bench:metrics\` measures it.

The chart in [helm](../helm/README.md) has what looks at them: a ServiceMonitor, rules, and a dashboard, which Grafana's own schema (its Foundation SDK 0.0.22) takes without a fault, and whose
expressions the tests ask of a real Prometheus; the picture below is drawn without Grafana. [runbook.md](runbook.md) says what to do when an
alert fires.

![The dashboard, drawn from what Prometheus knew of two replicas: Redis is kept busy by somebody else for a while, then a client floods](dashboard.png)

## What is so now

${table(gauges)}

## What has happened since the start

${table(counters)}

## How long it takes, and how much it is

Histograms: each has \`_bucket\`, \`_sum\` and \`_count\`.

${table(histograms)}

## Scaling on sessions

\`pty_gateway_sessions\` has no labels of its own and is there from the start, at 0, so it can be a metric of pods as it is: \`autoscaling.targetSessions\` of
the chart asks for it by this name. With the Prometheus adapter that is one rule:

\`\`\`yaml
rules:
  - seriesQuery: 'pty_gateway_sessions{namespace!="",pod!=""}'
    resources: { overrides: { namespace: { resource: namespace }, pod: { resource: pod } } }
    metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)
\`\`\`
`;

if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== page) {
    console.error('docs/metrics.md does not tell what src/metrics/table.ts says: run npm run build && node scripts/metrics-docs.mjs');
    process.exit(1);
  }
} else writeFileSync(file, page);
