// What the chart gives its pods: settings, and how long they have to end. Knows no process.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';

const run = promisify(execFile);

export interface Pods {
  readonly replicas: number;
  /** As the gateway reads them, but for what is another's or a machine's: the id, the folder, Redis, the key. */
  readonly env: Readonly<Record<string, string>>;
  /** Seconds from being told to end until SIGTERM. */
  readonly preStopSeconds: number;
  /** Seconds from being told to end until SIGKILL. */
  readonly graceSeconds: number;
}

/** biome-ignore lint/suspicious/noExplicitAny: an object of Kubernetes. */
type Rendered = any;
const ELSEWHERE = new Set(['AGENTS_FILE', 'DATA_DIR', 'HOME', 'HOST', 'PORT', 'REDIS_URL', 'REPLICA_ID']);

/** The chart with values as `--set` takes them. */
export async function renderPods(...values: string[]): Promise<Pods> {
  const { stdout } = await run('helm', ['template', 'x', 'helm', ...values.flatMap((value) => ['--set', value])]);
  const objects: Rendered[] = parseAllDocuments(stdout).map((document) => document.toJS());
  const { replicas, template } = objects.find((one) => one?.kind === 'StatefulSet').spec;
  const [gateway] = template.spec.containers;
  const env = gateway.env.filter(({ name, value }: { name: string; value?: string }) => value !== undefined && !ELSEWHERE.has(name));
  return {
    replicas,
    env: Object.fromEntries(env.map(({ name, value }: { name: string; value: string }) => [name, value])),
    preStopSeconds: Number(gateway.lifecycle.preStop.exec.command[1]),
    graceSeconds: template.spec.terminationGracePeriodSeconds,
  };
}
