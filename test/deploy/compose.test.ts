// What docker-compose.yml and the balancers' configurations promise, read without Docker: names that the gateway knows, files that are there, ports that meet.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../src/config.js';
import { Environment } from '../../src/environment.js';
import { needs } from '../support/needs.js';

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: object;
  readonly stop_grace_period?: string;
  readonly command?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly tmpfs?: readonly string[];
}

const compose = parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};
const dockerfile = readFileSync('Dockerfile', 'utf8');
const balancer = readFileSync('deploy/haproxy.cfg', 'utf8');
const service = (name: string) => compose.services[name] as Service;
const gateways = ['gateway-a', 'gateway-b'];

/** What the image sets, and what the service does. */
const environmentOf = (name: string): Record<string, string> => ({
  ...Object.fromEntries([...(/^ENV (.*)$/m.exec(dockerfile)?.[1] ?? '').matchAll(/(\w+)=(\S+)/g)].map(([, key, value]) => [key, value])),
  ...service(name).environment,
});

describe('docker-compose.yml', () => {
  it('runs two gateways, one Redis that is written down, and a balancer', () => {
    expect(Object.keys(compose.services)).toEqual([...gateways, 'redis', 'balancer']);
    expect(service('redis').command?.join(' ')).toContain('--appendonly yes');
    expect(service('redis').command?.join(' ')).toContain('--maxmemory-policy noeviction');
  });

  it('builds or fetches each image once, and names which version it fetches', () => {
    for (const { build, image } of Object.values(compose.services)) {
      expect([build, image].filter((from) => from !== undefined)).toHaveLength(1);
      if (image !== undefined) expect(image).toMatch(/:\d/);
    }
  });

  it.each(gateways)('gives %s an environment that the gateway takes', (name) => {
    const { NODE_ENV: _, ...environment } = environmentOf(name);
    expect(Object.keys(environment).filter((key) => !(key in Environment.properties))).toEqual([]);
    const secret = 'what the operator has set, 32 bytes or more';
    expect(environment.AUTH_JWT_SECRET).toMatch(/^\$\{AUTH_JWT_SECRET:\?/);
    const config = readConfig({ ...environment, AUTH_JWT_SECRET: secret });
    expect(config.redis).toMatchObject({ url: 'redis://redis:6379' });
    expect(config.listen).toMatchObject({ host: '0.0.0.0', port: 8080, trustProxy: 1 });
    expect(Number.parseInt(service(name).stop_grace_period ?? '', 10)).toBeGreaterThan(config.replica.drainSeconds + 5);
    expect(service(name).build).toBe('.');
  });

  it.each(gateways)('lets %s write where it keeps its data, and in /tmp, and gives it no power over the machine', (name) => {
    const { read_only, cap_drop, security_opt, tmpfs = [], volumes = [] } = service(name);
    expect({ read_only, cap_drop, security_opt }).toEqual({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect([...tmpfs, ...volumes].map((mount) => mount.replace(/^[^/]+:|:exec.*$/g, ''))).toEqual(['/tmp', environmentOf(name).DATA_DIR]);
  });

  it('waits for what is checked, and mounts what is there', () => {
    for (const { depends_on = {}, volumes = [] } of Object.values(compose.services)) {
      for (const [on, { condition }] of Object.entries(depends_on)) {
        expect(condition).toBe('service_healthy');
        expect(service(on).healthcheck !== undefined || /^HEALTHCHECK/m.test(dockerfile)).toBe(true);
      }
      for (const volume of volumes) {
        const [source = ''] = volume.split(':');
        expect(source.startsWith('./') ? existsSync(source) : source in compose.volumes, volume).toBe(true);
      }
    }
  });

  it('leads from a port of this machine alone, through the balancer, to where the gateways listen', () => {
    const presets = Object.fromEntries([...balancer.matchAll(/presetenv (\w+) (\S+)/g)].map(([, key, value]) => [key, value]));
    expect(Object.entries(compose.services).flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]))).toEqual([
      ['balancer', '127.0.0.1:8080:8080'],
    ]);
    expect(presets).toMatchObject({ LISTEN: ':8080', GATEWAY_A: 'gateway-a:8080', GATEWAY_B: 'gateway-b:8080' });
    expect(service('gateway-a').environment?.PUBLIC_URL).toBe('http://localhost:8080');
  });
});

needs('haproxy')('deploy/haproxy.cfg', () => {
  it('is one that haproxy takes, with nothing to complain of', () => {
    const env = { ...process.env, GATEWAY_A: '127.0.0.1:8081', GATEWAY_B: '127.0.0.1:8082' };
    execFileSync('haproxy', ['-c', '-dW', '-f', 'deploy/haproxy.cfg'], { env, stdio: 'pipe' });
  });
});

describe('deploy/nginx.conf', () => {
  it('waits for a silent WebSocket as long as the Ingress of the chart has its controller wait', () => {
    const { ingress } = parse(readFileSync('helm/values.yaml', 'utf8'));
    const conf = readFileSync('deploy/nginx.conf', 'utf8');
    for (const [name, value] of Object.entries<string>(ingress.annotations)) {
      const [, directive = ''] = /\/(.*)$/.exec(name) ?? [];
      const unit = /^\d+$/.test(value) ? 's' : '';
      expect(conf).toMatch(new RegExp(`^ *${directive.replaceAll('-', '_')} ${value}${unit};$`, 'm'));
    }
  });
});
