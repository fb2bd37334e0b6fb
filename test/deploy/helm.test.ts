// What the chart promises: values that are told from nonsense, objects that Kubernetes takes, and settings with which real gateways run.
import { execFile, execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, vi } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { readConfig } from '../../src/config.js';
import { Environment } from '../../src/environment.js';
import { freePort } from '../support/free-port.js';
import { Replica } from '../support/gateways.js';
import { needs } from '../support/needs.js';
import { startRedis } from '../support/redis.js';

vi.setConfig({ testTimeout: 60_000 });
const run = promisify(execFile);
const sets = readdirSync('helm/ci').map((file) => file.replace('-values.yaml', ''));
/** Of programs, not of the gateway. */
const foreign = new Set(['AWS_ACCESS_KEY_ID', 'AWS_REGION', 'AWS_SECRET_ACCESS_KEY', 'HOME', 'NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS']);

// biome-ignore lint/suspicious/noExplicitAny: an object of Kubernetes; the test says what it expects.
type Rendered = any;
type Env = Array<{ name: string; value?: string }>;

async function rendered(...args: string[]): Promise<Rendered[]> {
  const { stdout } = await run('helm', ['template', 'x', 'helm', ...args]);
  return parseAllDocuments(stdout)
    .map((document) => document.toJS())
    .filter(Boolean);
}
const of = (objects: Rendered[], kind: string, name = 'x-pty-gateway') =>
  objects.find((one) => one.kind === kind && one.metadata.name === name);
const gatewayOf = (objects: Rendered[]) => of(objects, 'StatefulSet').spec.template.spec.containers[0];
const settingsOf = (env: Env) => Object.fromEntries(env.map(({ name, value = 'from-elsewhere' }) => [name, value]));

needs('helm')('the chart', () => {
  it.each(sets)('with the values of %s has no fault, and settings that the gateway takes', async (name) => {
    const values = ['-f', `helm/ci/${name}-values.yaml`];
    await run('helm', ['lint', '--strict', 'helm', ...values]);
    const objects = await rendered(...values);
    const { REDIS_URL, ...settings } = settingsOf(gatewayOf(objects).env);
    const known = Object.entries(settings).filter(([setting]) => !foreign.has(setting));
    expect(known.map(([setting]) => setting).filter((setting) => !(setting in Environment.properties))).toEqual([]);
    const redis = REDIS_URL === undefined ? {} : { REDIS_URL: REDIS_URL.startsWith('redis') ? REDIS_URL : 'redis://elsewhere' };
    const key = known.some(([setting]) => setting === 'AUTH_JWT_SECRET_FILE') ? {} : { AUTH_JWT_SECRET: 'x'.repeat(32) };
    const config = readConfig({ ...Object.fromEntries(known), ...redis, ...key });
    const pod = of(objects, 'StatefulSet').spec.template.spec;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(config.replica.drainSeconds + 10);
  });

  it.each(sets)('with the values of %s gives no container a root, a capability, or a file system to write to', async (name) => {
    const objects = await rendered('-f', `helm/ci/${name}-values.yaml`);
    const pods = objects.flatMap(({ kind, spec }) => (kind === 'Pod' ? [spec] : (spec?.template?.spec ?? [])));
    expect(pods.length).toBeGreaterThan(0);
    for (const { securityContext, containers, initContainers = [] } of pods) {
      expect(securityContext).toMatchObject({ runAsNonRoot: true });
      for (const container of [...containers, ...initContainers])
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
    }
  });

  it.each([
    ['fewer than no replicas', ['replicaCount=-1'], /replicaCount/],
    ['a key that is too short', ['auth.jwtSecret=short'], /jwtSecret/],
    ['a Redis that is none', ['redis.url=http://x'], /redis\.url/],
    ['a value that is not there', ['replicas=3'], /replicas/],
    ['a secret among the settings', ['config.AUTH_JWT_SECRET=x'], /AUTH_JWT_SECRET/],
    ['an agent without a command', ['agents.a.name=A'], /command/],
    ['an ingress without a host', ['ingress.enabled=true'], /ingress\.host is needed/],
    ['a file of secrets in no Secret', ['auth.secretFileKey=x'], /auth\.secretFileKey is a key of auth\.existingSecret/],
    ['an archive that is nowhere', ['archive.existingClaim=x'], /archive\.url is needed/],
    [
      'authorities of clients without a certificate of its own',
      ['tls.clientCaKey=ca.crt'],
      /tls\.clientCaKey is a key of tls\.existingSecret/,
    ],
    ['certificates in a header without rules', ['clientCertificates.header=Client-Cert'], /clientCertificates\.rules say who/],
    ['several replicas without a Redis', ['valkey.enabled=false'], /several replicas need a Redis/],
  ])('refuses %s by name', async (_, values, message) => {
    const refused = await rendered(...values.flatMap((value) => ['--set', value])).catch((error) => error);
    expect(refused.stderr).toMatch(message);
  });

  it('gives the agents file as it was written, and replaces the pods when it changes', async () => {
    const objects = await rendered('-f', 'helm/ci/agents-values.yaml');
    const { agents } = JSON.parse(of(objects, 'ConfigMap', 'x-pty-gateway-agents').data['agents.json']);
    expect(agents.build).toMatchObject({ command: ['/bin/bash', '--noprofile', '--norc'], policy: { max_sessions: 20 } });
    const sum = (all: Rendered[]) => of(all, 'StatefulSet').spec.template.metadata.annotations['checksum/agents'];
    expect(sum(objects)).not.toBe(sum(await rendered()));
  });

  it('speaks TLS with the certificate of a Secret, and knows clients by the rules it was given', async () => {
    const objects = await rendered('-f', 'helm/ci/client-certificates-values.yaml');
    const { certificates } = JSON.parse(of(objects, 'ConfigMap', 'x-pty-gateway-certificates').data['certificates.json']);
    expect(certificates).toMatchObject([{ principal: '{uri}', sessions: 'own' }]);
    const { readinessProbe, env, volumeMounts } = gatewayOf(objects);
    const mounted = volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath);
    const { TLS_CERT_FILE = '', CLIENT_CERT_MAP_FILE = '', PUBLIC_URL } = settingsOf(env);
    for (const file of [TLS_CERT_FILE, CLIENT_CERT_MAP_FILE]) expect(mounted).toContain(file.replace(/\/[^/]*$/, ''));
    expect([readinessProbe.httpGet.scheme, PUBLIC_URL]).toEqual(['HTTPS', 'https://x-pty-gateway.default.svc']);
  });

  it('has a page that tells of every value', () => {
    execFileSync(process.execPath, ['scripts/helm-values.mjs', '--check'], { stdio: 'pipe' });
  });

  needs('redis-server')('started as real processes', () => {
    it('is a gateway to which its own test attaches, through either replica', async () => {
      const objects = await rendered();
      const secret = of(objects, 'Secret').stringData;
      const settings = settingsOf(gatewayOf(objects).env);
      const redis = await startRedis();
      const folder = await mkdtemp(join(tmpdir(), 'chart-'));
      const env = { ...settings, ...secret, HOST: '127.0.0.1', HOME: folder, REDIS_URL: redis.url };
      const replicas = await Promise.all(
        [0, 1].map(async (i) => new Replica(`x-pty-gateway-${i}`, await freePort(), { folder, env, logs: undefined })),
      );
      try {
        await Promise.all(replicas.map((replica) => replica.start()));
        const [instance] = of(objects, 'Pod', 'x-pty-gateway-test-attach').spec.containers[0].env.filter(
          (one: { name: string }) => one.name === 'INSTANCE',
        );
        for (const { port, id } of replicas) {
          const test = {
            ...secret,
            PATH: process.env.PATH,
            APP_DIR: resolve('.'),
            GATEWAY_URL: `http://127.0.0.1:${port}`,
            INSTANCE: instance.value,
          };
          const { stdout } = await run(process.execPath, ['helm/files/attach-test.mjs'], { env: test });
          expect(stdout).toMatch(new RegExp(`attached to session [0-9a-f-]+ on ${id}: it answers`));
        }
      } finally {
        await Promise.all(replicas.map((replica) => replica.stop('SIGKILL')));
        await redis.dispose();
        await rm(folder, { recursive: true });
      }
    });
  });
});

needs('helm', 'kubernetes-validate')('every object of the chart', () => {
  it.each(sets)('with the values of %s is one that Kubernetes takes', async (name) => {
    const folder = await mkdtemp(join(tmpdir(), 'chart-'));
    try {
      await run('helm', ['template', 'x', 'helm', '-f', `helm/ci/${name}-values.yaml`, '--output-dir', folder]);
      const found = await readdir(folder, { recursive: true, withFileTypes: true });
      const files = found.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
      // Those of others' kinds are not known to it.
      const own = files.filter((file) => !/(httproute|servicemonitor|prometheusrule)\.yaml$/.test(file));
      expect(own.length).toBeGreaterThan(3);
      await run('kubernetes-validate', ['--strict', ...own]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
