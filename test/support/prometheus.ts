// A Prometheus of a test's own, which scrapes gateways each second and judges by the rules of the chart. Knows no gateway.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePort } from './free-port.js';
import { until } from './redis.js';

/** How long something may take to be scraped and judged, in milliseconds. */
const PATIENCE_MS = 60_000;

interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A sample for each moment, oldest first. */
export interface Series {
  readonly metric: Sample['metric'];
  readonly values: ReadonlyArray<readonly [seconds: number, value: number]>;
}

/** As the chart has them; at once, since the tests of the rules see to how long each has to last. */
export const rulesAtOnce = (): string => readFileSync('helm/files/rules.yml', 'utf8').replace(/^ +for: .*\n/gm, '');

export class Prometheus {
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #folder: string;

  private constructor(url: string, process: ChildProcess, folder: string) {
    this.url = url;
    this.#process = process;
    this.#folder = folder;
  }

  /** Of what listens on these ports, by job; of one job if none is named. */
  static async start(ports: readonly number[] | Readonly<Record<string, readonly number[]>>): Promise<Prometheus> {
    const folder = await mkdtemp(join(tmpdir(), 'prometheus-'));
    const port = await freePort();
    const jobs = Array.isArray(ports) ? { 'pty-gateway': ports } : ports;
    const config = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ['rules.yml'],
      scrape_configs: Object.entries(jobs).map(([job, own]) => ({
        job_name: job,
        static_configs: [{ targets: own.map((one: number) => `127.0.0.1:${one}`) }],
      })),
    };
    await writeFile(join(folder, 'prometheus.yml'), stringify(config));
    await writeFile(join(folder, 'rules.yml'), rulesAtOnce());
    const options = {
      'config.file': 'prometheus.yml',
      'storage.tsdb.path': 'data',
      'web.listen-address': `127.0.0.1:${port}`,
      'log.level': 'error',
    };
    const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
    const started = new Prometheus(`http://127.0.0.1:${port}`, spawn('prometheus', args, { cwd: folder, stdio: 'ignore' }), folder);
    const count = Object.values(jobs).flat().length;
    const hasScraped = async () => (await started.ask('up == 1')).length === count;
    await until('Prometheus has scraped everybody', hasScraped, PATIENCE_MS).catch(async (error) => {
      await started.dispose();
      throw error;
    });
    return started;
  }

  /** What an expression says now; nothing while it cannot be asked yet. */
  async ask(expression: string): Promise<Sample[]> {
    const query = new URLSearchParams({ query: expression });
    const answer = await fetch(`${this.url}/api/v1/query?${query}`).catch(() => undefined);
    if (!answer || answer.status === 503) return [];
    const { data, error } = (await answer.json()) as {
      data?: { result: Array<{ metric: Sample['metric']; value: [number, string] }> };
      error?: string;
    };
    if (!data) throw new Error(`${expression}: ${error}`);
    return data.result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
  }

  /** What an expression said from `from` to `to`, in seconds since the epoch, each second. */
  async range(expression: string, from: number, to: number): Promise<Series[]> {
    const query = new URLSearchParams({ query: expression, start: `${from}`, end: `${to}`, step: '1' });
    const answer = await fetch(`${this.url}/api/v1/query_range?${query}`);
    const { data, error } = (await answer.json()) as {
      data?: { result: Array<{ metric: Sample['metric']; values: [number, string][] }> };
      error?: string;
    };
    if (!data) throw new Error(`${expression}: ${error}`);
    return data.result.map(({ metric, values }) => ({ metric, values: values.map(([at, value]) => [at, Number(value)]) }));
  }

  /** Resolves when an alert fires, with its labels; of any job if none is named. */
  async alert(name: string, job = '.+'): Promise<Sample['metric']> {
    return (await this.shows(`ALERTS{alertname="${name}", alertstate="firing", job=~"${job}"}`)).metric;
  }

  /** Resolves with the first sample when an expression has any. */
  async shows(expression: string): Promise<Sample> {
    let found: Sample | undefined;
    const isThere = async () => {
      [found] = await this.ask(expression);
      return found !== undefined;
    };
    await until(`${expression} shows something`, isThere, PATIENCE_MS);
    return found as Sample;
  }

  /** The names of all that fire; of any job if none is named. */
  async firing(job = '.+'): Promise<string[]> {
    const firing = await this.ask(`count by (alertname) (ALERTS{alertstate="firing", job=~"${job}"})`);
    return firing.map(({ metric }) => metric.alertname ?? '').sort();
  }

  async dispose(): Promise<void> {
    const gone = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await gone;
    await rm(this.#folder, { recursive: true, force: true });
  }
}
