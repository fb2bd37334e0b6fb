import fc from 'fast-check';
import Fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import { ConfigError, isLoopback, localUrl, readConfig } from '../../src/config.js';
import { Environment } from '../../src/environment.js';

const complaint = (env: NodeJS.ProcessEnv): string => {
  try {
    readConfig(env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
  throw new Error(`nothing was said of ${JSON.stringify(env)}`);
};

describe('the environment', () => {
  it('may be empty: then every default of the contract holds', () => {
    const config = readConfig({});
    expect(config.listen).toEqual({ host: '127.0.0.1', port: 8080, trustProxy: false });
    expect(config.heartbeat).toEqual({ intervalSeconds: 30, timeoutSeconds: 90 });
    expect(config.replica).toMatchObject({ leaseSeconds: 10, drainSeconds: 20 });
    expect(config.limits).toMatchObject({ requestsPerMinute: 600, attachesPerMinute: 120, sessions: 1000, messageBytes: 1_048_576 });
    expect(config.auth).toMatchObject({ clockSkewSeconds: 5, allowedOrigins: undefined });
    expect(config.auditFile).toBe(`${config.dataDir}/audit.jsonl`);
    expect(config.dataDir).toBe(`${process.cwd()}/data`);
    expect(config.logLevel).toBe('info');
  });

  it.each([
    [{}, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, true],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' }, true],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, true],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_TRACES_EXPORTER: 'none' }, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_SDK_DISABLED: 'true' }, false],
  ])('wants traces, or none, as OpenTelemetry says: %j', (env, traces) => expect(readConfig(env).traces).toBe(traces));

  it('counts an empty value as absent', () => {
    expect(readConfig({ PORT: '', AUTH_JWT_SECRET: '', REDIS_URL: '' })).toMatchObject({ listen: { port: 8080 } });
  });

  it.each([
    [{ PORT: 'http' }, 'PORT is "http"; expected an integer from 0 to 65535'],
    [{ PORT: '65536' }, 'PORT is "65536"; expected an integer from 0 to 65535'],
    [{ PORT: '80.5' }, 'PORT is "80.5"; expected an integer from 0 to 65535'],
    [{ DRAIN_SECONDS: '-1' }, 'DRAIN_SECONDS is "-1"; expected an integer from 0 to 86400'],
    [{ PUBLIC_URL: 'gateway.example' }, 'PUBLIC_URL is "gateway.example"; expected an http:// or https:// URL'],
    [{ PUBLIC_URL: 'ftp://gateway.example' }, 'PUBLIC_URL is "ftp://gateway.example"; expected an http:// or https:// URL'],
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER is "zipkin"; expected "otlp" or "none"'],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"; expected "http/protobuf"'],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' },
      'OTEL_EXPORTER_OTLP_ENDPOINT is "collector:4318"; expected an http:// or https:// URL',
    ],
    [{ AUTH_JWKS_URL: 'keys' }, 'AUTH_JWKS_URL is "keys"; expected an http:// or https:// URL'],
    [{ PUBLIC_URL: 'http://x?y=1' }, 'PUBLIC_URL is "http://x?y=1"; expected an http:// or https:// URL without query and fragment'],
    [{ PUBLIC_URL: 'http://x/#' }, 'PUBLIC_URL is "http://x/#"; expected an http:// or https:// URL without query and fragment'],
    [{ ALLOWED_ORIGINS: ' , ' }, 'ALLOWED_ORIGINS is " , "; expected at least one origin, as https://gateway.example'],
    [
      { ALLOWED_ORIGINS: 'https://a.example/x' },
      'ALLOWED_ORIGINS is "https://a.example/x"; expected an origin, as https://gateway.example',
    ],
    [{ ALLOWED_ORIGINS: 'https://a.example, b' }, 'ALLOWED_ORIGINS is "b"; expected an http:// or https:// URL'],
    [
      { PUSH_ALLOWED_HOSTS: 'receiver.internal, 10.0.0.0/33' },
      'PUSH_ALLOWED_HOSTS is "10.0.0.0/33"; expected a host, host:port, address or CIDR, as receiver.internal:8443 or 10.1.0.0/16',
    ],
    [{ SCREEN_FONTS: '/nowhere/at/all' }, 'SCREEN_FONTS is "/nowhere/at/all"; expected a folder'],
    [{ TRUST_PROXY: 'everyone' }, 'TRUST_PROXY is "everyone"; expected true, false, a number of hops, or a list of CIDRs'],
    [{ REPLICA_ID: 'a b' }, 'REPLICA_ID is "a b"; expected 1 to 64 characters of A-Z a-z 0-9 . _ -'],
    [{ HEARTBEAT_TIMEOUT_SECONDS: '30' }, 'HEARTBEAT_TIMEOUT_SECONDS is 30; expected more than HEARTBEAT_INTERVAL_SECONDS (30)'],
    [{ AUTH_JWT_SECRET: 'short' }, 'AUTH_JWT_SECRET has 5 bytes; expected at least 32'],
  ])('says of %o what it is and what is expected', (env, message) => {
    expect(complaint(env)).toBe(message);
  });

  it('names the levels that LOG_LEVEL may have', () => {
    expect(complaint({ LOG_LEVEL: 'loud' })).toBe(
      'LOG_LEVEL is "loud"; expected one of "trace", "debug", "info", "warn", "error", "fatal", "silent"',
    );
  });

  it('takes keys by their names, and shows none when one is wrong', () => {
    const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const keys = `new:${one.toString('base64')}, old:${two.toString('base64')}`;
    expect(readConfig({ REPLAY_ENCRYPTION_KEYS: keys }).encryptionKeys).toEqual([
      { kid: 'new', key: one },
      { kid: 'old', key: two },
    ]);
    expect(readConfig({}).encryptionKeys).toEqual([]);
    expect(complaint({ REPLAY_ENCRYPTION_KEYS: 'k:c2VjcmV0' })).toBe(
      'REPLAY_ENCRYPTION_KEYS: the key k has 6 bytes; expected 32 in base64',
    );
    expect(complaint({ REPLAY_ENCRYPTION_KEYS: `${keys},secret` })).toBe(
      'REPLAY_ENCRYPTION_KEYS: entry 3 is not kid:base64key, where kid has 1 to 64 characters of A-Z a-z 0-9 . _ -',
    );
    expect(complaint({ REPLAY_ENCRYPTION_KEYS: `${keys},${keys}` })).toBe('REPLAY_ENCRYPTION_KEYS names the key new twice');
  });

  it('believes that Redis loses nothing of one server alone', () => {
    const [one, two] = ['redis://a', 'redis://a,redis://b'];
    expect(readConfig({ REDIS_URL: one, REDIS_DURABLE: 'true' }).redis).toMatchObject({ durable: true });
    expect(readConfig({ REDIS_URL: two }).redis).toMatchObject({ durable: false });
    for (const env of [{}, { REDIS_URL: two }, { REDIS_URL: one, REDIS_SENTINEL_MASTER: 'm' }])
      expect(complaint({ ...env, REDIS_DURABLE: 'true' })).toMatch(/^REDIS_DURABLE is true, but Redis is not one server; expected false/);
    expect(complaint({ REDIS_DURABLE: '1' })).toMatch(/^REDIS_DURABLE is "1"; expected /);
  });

  it('refuses what it could only ignore', () => {
    expect(complaint({ REDIS_SENTINEL_MASTER: 'm' })).toBe('REDIS_SENTINEL_MASTER is set, but REDIS_URL is not; expected both or neither');
  });

  it.each([
    [{ TLS_KEY_FILE: 'k' }, 'TLS_KEY_FILE is set, but TLS_CERT_FILE is not; expected both'],
    [{ TLS_CERT_FILE: 'c' }, 'TLS_CERT_FILE is set, but TLS_KEY_FILE is not; expected both'],
    [{ TLS_CLIENT_CA_FILE: 'a' }, 'TLS_CLIENT_CA_FILE is set, but TLS_CERT_FILE is not; expected both'],
    [{ CLIENT_CERT_MAP_FILE: 'm' }, 'CLIENT_CERT_MAP_FILE is set, but TLS_CLIENT_CA_FILE is not; expected both'],
    [{ CLIENT_CERT_HEADER: 'Client-Cert' }, 'CLIENT_CERT_HEADER is set, but CLIENT_CERT_MAP_FILE is not; expected both'],
    [
      { CLIENT_CERT_HEADER: 'Client-Cert', CLIENT_CERT_MAP_FILE: 'm', TRUST_PROXY: '1' },
      'CLIENT_CERT_HEADER is set; expected TRUST_PROXY to list the addresses or CIDRs of the proxies that write it',
    ],
    [{ CLIENT_CERT_HEADER: 'Client Cert' }, 'CLIENT_CERT_HEADER is "Client Cert"; expected the name of a header'],
  ])('refuses %j, by which nobody could be known', (env, message) => {
    expect(complaint(env)).toBe(message);
  });

  it.each([
    '1.2.3.4/99',
    'abc/8',
    '999.0.0.0/8',
    ':::',
    '::1/200',
    '1.2.3',
    '10.0.0.0/0',
    '1000',
    'fe80::1%eth0',
    '::ffff:10.0.0.1/129',
    ',',
  ])('refuses %s as a proxy', (proxy) => {
    expect(complaint({ TRUST_PROXY: proxy })).toBe(`TRUST_PROXY is "${proxy}"; expected true, false, a number of hops, or a list of CIDRs`);
  });

  it('takes no proxies that Fastify would refuse', () => {
    const address = fc.oneof(
      fc.ipV4(),
      fc.ipV4Extended(),
      fc.ipV6(),
      fc.stringMatching(/^[0-9a-f:.]{1,12}$/),
      fc.constant('::ffff:10.0.0.1'),
    );
    const network = fc
      .tuple(address, fc.option(fc.integer({ min: 0, max: 140 })))
      .map(([at, bits]) => (bits === null ? at : `${at}/${bits}`));
    let taken = 0;
    fc.assert(
      fc.property(fc.array(network, { minLength: 1, maxLength: 3 }), (networks) => {
        try {
          readConfig({ TRUST_PROXY: networks.join(', ') });
        } catch {
          return;
        }
        Fastify({ trustProxy: networks });
        taken++;
      }),
    );
    expect(taken).toBeGreaterThan(0);
  });

  it('is either taken or refused in one line that names a variable, whatever it holds', () => {
    const anyEnv = fc.dictionary(fc.constantFrom(...Object.keys(Environment.properties)), fc.string());
    fc.assert(
      fc.property(anyEnv, (env) => {
        try {
          readConfig(env);
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError);
          const { message } = error as Error;
          expect(message).not.toContain('\n');
          expect(Object.keys(env).some((name) => message.startsWith(name)) || message.startsWith('HEARTBEAT_TIMEOUT_SECONDS')).toBe(true);
        }
      }),
    );
  });

  it('takes a folder or a bucket for an archive', () => {
    expect(readConfig({}).archive).toBeUndefined();
    expect(readConfig({ ARCHIVE_URL: 'file:///var/lib/an%20archive' }).archive).toEqual({
      place: { kind: 'directory', path: '/var/lib/an archive' },
      retentionSeconds: 2_592_000,
    });
    const place = (env: Record<string, string>) => readConfig({ ARCHIVE_URL: 's3://terminals/a/b/', ...env }).archive?.place;
    const bucket = { kind: 's3', bucket: 'terminals', prefix: 'a/b' };
    const ARCHIVE_ENDPOINT = 'http://minio:9000';
    expect(place({})).toEqual({ ...bucket, pathStyle: false });
    expect(place({ ARCHIVE_ENDPOINT })).toEqual({ ...bucket, endpoint: 'http://minio:9000/', pathStyle: true });
    expect(place({ ARCHIVE_ENDPOINT, ARCHIVE_PATH_STYLE: 'false' })).toMatchObject({ pathStyle: false });
  });

  it.each([
    [
      { ARCHIVE_URL: 's3://key:secret@bucket' },
      'ARCHIVE_URL is not usable; expected file:///folder or s3://bucket/prefix, without credentials',
    ],
    [{ ARCHIVE_URL: 's3://bucket/%zz' }, 'ARCHIVE_URL is not usable; expected file:///folder or s3://bucket/prefix, without credentials'],
    [{ ARCHIVE_URL: '/var/lib' }, 'ARCHIVE_URL is not usable; expected file:///folder or s3://bucket/prefix, without credentials'],
    [{ ARCHIVE_ENDPOINT: 'http://minio:9000' }, 'ARCHIVE_ENDPOINT is set, but ARCHIVE_URL is not; expected both or neither'],
    [
      { ARCHIVE_URL: 'file:///var', ARCHIVE_ENDPOINT: 'http://minio:9000' },
      'ARCHIVE_ENDPOINT is set, but ARCHIVE_URL is a folder; expected s3://bucket/prefix with it',
    ],
  ])('takes no other for one: %j', (env, message) => {
    expect(() => readConfig(env)).toThrow(new ConfigError(message));
  });

  it('takes proxies as hops, CIDRs or a flag', () => {
    const trust = (value: string) => readConfig({ TRUST_PROXY: value }).listen.trustProxy;
    expect([trust('true'), trust('2'), trust('10.0.0.0/8, loopback')]).toEqual([true, 2, ['10.0.0.0/8', 'loopback']]);
  });

  it('splits PUBLIC_URL into what addresses are built from', () => {
    expect(readConfig({ PUBLIC_URL: 'https://gateway.example/terminals/' }).publicUrl).toEqual({
      http: 'https://gateway.example/terminals',
      ws: 'wss://gateway.example/terminals',
      origin: 'https://gateway.example',
      prefix: '/terminals',
    });
  });

  it('has a URL for every listen address', () => {
    expect([localUrl('::1', 80).http, localUrl('0.0.0.0', 8080).http, localUrl('127.0.0.1', 8080).ws]).toEqual([
      'http://[::1]',
      'http://localhost:8080',
      'ws://127.0.0.1:8080',
    ]);
  });

  it('knows which addresses only this machine can reach', () => {
    expect(['127.0.0.1', '127.8.0.1', '::1', 'localhost'].every(isLoopback)).toBe(true);
    expect(['0.0.0.0', '::', '10.0.0.1', '127.example.org', 'gateway'].some(isLoopback)).toBe(false);
  });
});
