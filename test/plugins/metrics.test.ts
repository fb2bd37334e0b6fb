// What a gateway tells Prometheus of real sessions and clients.
import { readdir, readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mintToken } from '../../src/access/token.js';
import { framesOf, plainClient } from '../support/plain-client.js';
import { until } from '../support/redis.js';
import { type RunningGateway, startGateway } from '../support/running-gateway.js';
import { type Samples, scrape } from '../support/samples.js';

const SECRET = 'a secret of the tests, long enough for HS256';
const KEYS = ['new', 'old'].map((kid) => `${kid}:${Buffer.alloc(32, kid).toString('base64')}`).join(',');
const tokenOf = (scope: 'pty:admin' | 'pty:observe') => mintToken(SECRET, { sub: 'tester', scope, ttlSeconds: 60 });

describe('the metrics of a gateway', () => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await startGateway({ AUTH_JWT_SECRET: SECRET, REPLAY_ENCRYPTION_KEYS: KEYS });
  });
  afterAll(() => gateway.stop());

  const now = async () => withoutPrefix(await scrape(gateway.port));
  const ask = (method: string, path: string, token = tokenOf('pty:admin')) =>
    fetch(`http://127.0.0.1:${gateway.port}/agents/shell/sessions${path}`, { method, headers: { authorization: `Bearer ${token}` } });

  /** A session, and a client that has joined it after `replayFrom`. */
  async function attended(replayFrom?: number) {
    const { session_id, pty_ws_url } = (await (await ask('POST', '')).json()) as Record<string, string>;
    const client = await plainClient(pty_ws_url as string, tokenOf('pty:admin'));
    await client.attach({}, replayFrom === undefined ? {} : { replay_from: replayFrom });
    return { id: session_id as string, client };
  }

  it('say that all is well, and what is here', async () => {
    const samples = await now();
    expect([...samples].find(([name]) => name.startsWith('info{'))?.[0]).toMatch(/log="embedded"/);
    expect(['ready', 'log_available', 'lease_held', 'replicas', 'audit_writable'].map((name) => samples.get(name))).toEqual([
      1, 1, 1, 1, 1,
    ]);
    expect([samples.get('sealing_key{key="new"}'), samples.get('sealing_key{key="old"}')]).toEqual([1, 0]);
    expect(samples.get('setting_refused{variable="AGENTS_FILE"}')).toBe(0);
    expect((samples.get('clock_seconds') ?? 0) * 1000).toBeLessThanOrEqual(Date.now());
    expect(samples.get('session_limit')).toBe(1000);
    expect(samples.get('data_disk_free_bytes')).toBeGreaterThan(0);
    expect(samples.get('sessions_without_screen')).toBe(0);
  });

  it('are those of docs/metrics.md, all of them and no others, and among them is all that the documents, the rules and the dashboard name', async () => {
    const page = await (await fetch(`http://127.0.0.1:${gateway.port}/metrics`)).text();
    const told = [...page.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name as string);
    const rows = [...(await readFile('docs/metrics.md', 'utf8')).matchAll(/^\| `(pty_gateway_\w+)` \|/gm)].map(([, name]) => name);
    expect(told.filter((name) => name.startsWith('pty_gateway_')).sort()).toEqual(rows.sort());
    const documents = (await readdir('docs')).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`);
    for (const file of [...documents, 'helm/files/rules.yml', 'helm/dashboards/pty-gateway.json']) {
      const names = (await readFile(file, 'utf8')).match(/\b(pty_gateway|nodejs|process)_[a-z0-9_]+[a-z0-9]\b/g) ?? [];
      const unknown = names.filter((name) => !told.includes(name) && !told.includes(name.replace(/_(bucket|sum|count)$/, '')));
      expect([file, unknown]).toEqual([file, []]);
    }
  });

  it('count a session, who is attached to it, and what went to and fro', async () => {
    const before = await now();
    const { id, client } = await attended();
    client.type('echo one-$((1+1))\r');
    await until('it is echoed', () => framesOf(client, 'Output').length > 0);
    const samples = await now();
    const since = (name: string) => (samples.get(name) ?? 0) - (before.get(name) ?? 0);
    expect(samples.get('agent_sessions{agent="shell"}')).toBe(1);
    expect([since('sessions'), since('connections'), since('attachments{role="controller"}')]).toEqual([1, 1, 1]);
    expect([since('sessions_started_total'), since('received_frames_total'), since('join_seconds_count')]).toEqual([1, 2, 1]);
    expect(since('sent_frames_total')).toBeGreaterThan(4);
    expect(since('sent_bytes_total')).toBeGreaterThan(since('received_bytes_total'));
    expect(since('terminal_output_bytes_total')).toBeGreaterThan(10);
    for (const name of ['log_append_seconds', 'delivery_seconds', 'keyframe_seconds']) expect(since(`${name}_count`)).toBeGreaterThan(0);
    client.ws.close();
    await ask('DELETE', `/${id}`);
    await until('it is gone from the numbers', async () => (await now()).get('sessions') === before.get('sessions'));
    expect((await now()).get('sent_frames_total')).toBeGreaterThanOrEqual(samples.get('sent_frames_total') as number);
  });

  it('count replays, those among them that ask for what is not kept, and refusals by code', async () => {
    const before = await now();
    await attended(0);
    await attended(1_000_000);
    await ask('GET', '', 'no token at all');
    await ask('POST', '', tokenOf('pty:observe'));
    const samples = await now();
    const since = (name: string) => (samples.get(name) ?? 0) - (before.get(name) ?? 0);
    expect([since('replays_total{outcome="served"}'), since('replays_total{outcome="out_of_range"}')]).toEqual([1, 1]);
    expect(since('refusals_total{face="websocket",code="REPLAY_OUT_OF_RANGE"}')).toBe(1);
    expect(since('refusals_total{face="http",code="UNAUTHENTICATED"}')).toBe(1);
    expect(since('refusals_total{face="http",code="PERMISSION_DENIED"}')).toBe(1);
  });
});

function withoutPrefix(samples: Samples): Samples {
  return new Map([...samples].map(([name, value]) => [name.replace(/^pty_gateway_/, ''), value]));
}
