// The environment, checked once at start and grouped by concern. Knows no file's content and no Fastify.
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import path from 'node:path';
import { Value } from '@sinclair/typebox/value';
import { type AllowedHost, readAllowedHost } from './a2a/push/allowed-hosts.js';
import { Environment, secret } from './environment.js';
import { KEY_BYTES, type NamedKey } from './keyring.js';
import { type ArchivePlace, readPlace } from './log/archived/place.js';
import { expected, shown } from './protocol/check.js';

/** Exit status of a process that was configured wrongly (sysexits EX_CONFIG). */
export const EXIT_CONFIG = 78;
/** A value that the gateway cannot start with; the message is one line that names the variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Where clients find the gateway. No slash ends `http`, `ws` or `prefix`. */
export interface PublicUrl {
  readonly http: string;
  readonly ws: string;
  readonly origin: string;
  /** Path prefix, as `/terminals`; empty if there is none. */
  readonly prefix: string;
}

export interface Config {
  readonly listen: { readonly host: string; readonly port: number; readonly trustProxy: boolean | number | string[] };
  /** Undefined: from the address that is listened on. */
  readonly publicUrl: PublicUrl | undefined;
  /** Undefined: plain HTTP. */
  readonly tls: { readonly certFile: string; readonly keyFile: string; readonly clientCaFile: string | undefined } | undefined;
  readonly clientCertificates: {
    /** Undefined: certificates of clients say nothing. */
    readonly mapFile: string | undefined;
    /** In lower case; undefined: none is believed. */
    readonly header: string | undefined;
  };
  readonly dataDir: string;
  /** Undefined: the embedded log, and one replica alone. */
  readonly redis:
    | { readonly url: string; readonly sentinelMaster: string | undefined; readonly prefix: string; readonly durable: boolean }
    | undefined;
  /** Undefined: what leaves the log is gone. */
  readonly archive: { readonly place: ArchivePlace; readonly retentionSeconds: number } | undefined;
  /** What is stored is sealed with the first, and opened with any; empty: it is stored as it is. */
  readonly encryptionKeys: readonly NamedKey[];
  /** A folder of fonts for pictures; undefined: the system's. */
  readonly screenFonts: string | undefined;
  readonly auditFile: string;
  readonly agentsFile: string | undefined;
  readonly auth: {
    readonly secret: string | undefined;
    /** Instead of `secret`. */
    readonly secretFile: string | undefined;
    readonly publicKey: string | undefined;
    readonly jwksUrl: string | undefined;
    readonly issuer: string | undefined;
    readonly audience: string | undefined;
    readonly clockSkewSeconds: number;
    readonly expiryGraceSeconds: number;
    readonly revocationFile: string | undefined;
    /** Undefined: the same origin alone. */
    readonly allowedOrigins: readonly string[] | undefined;
  };
  /** As `cardSigningKey`; undefined: the audit file has no checkpoints. */
  readonly auditSigningKey: string | undefined;
  /** A PEM, or the path of one. Undefined: cards are not signed. */
  readonly cardSigningKey: string | undefined;
  readonly heartbeat: { readonly intervalSeconds: number; readonly timeoutSeconds: number };
  readonly replica: { readonly id: string; readonly leaseSeconds: number; readonly drainSeconds: number };
  readonly limits: {
    readonly requestsPerMinute: number;
    readonly attachesPerMinute: number;
    readonly connectionsPerPrincipal: number;
    readonly connectionsPerAddress: number;
    readonly firstFrameSeconds: number;
    readonly sessions: number;
    readonly messageBytes: number;
  };
  /** Whether clients of the reference implementation are understood. */
  readonly legacyClients: boolean;
  /** Whether there is an agent for the A2A conformance kit. */
  readonly a2aFixture: boolean;
  /** Beside the public internet. */
  readonly push: { readonly allowedHosts: readonly AllowedHost[] };
  /** Whether spans go to a collector; OpenTelemetry's own variables say where it is. */
  readonly traces: boolean;
  readonly logLevel: Environment['LOG_LEVEL'];
}

/** Reads and checks the environment. Throws ConfigError for the first value that is wrong. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const e = checked(env);
  if (e.HEARTBEAT_TIMEOUT_SECONDS <= e.HEARTBEAT_INTERVAL_SECONDS) {
    throw new ConfigError(
      `HEARTBEAT_TIMEOUT_SECONDS is ${e.HEARTBEAT_TIMEOUT_SECONDS}; expected more than HEARTBEAT_INTERVAL_SECONDS (${e.HEARTBEAT_INTERVAL_SECONDS})`,
    );
  }
  return {
    listen: { host: e.HOST, port: e.PORT, trustProxy: trustProxy(e.TRUST_PROXY) },
    publicUrl: e.PUBLIC_URL === undefined ? undefined : publicUrl(base('PUBLIC_URL', e.PUBLIC_URL)),
    tls: tls(e),
    clientCertificates: clientCertificates(e),
    dataDir: path.resolve(e.DATA_DIR),
    redis: redis(e),
    archive: archive(e),
    encryptionKeys: encryptionKeys(e.REPLAY_ENCRYPTION_KEYS),
    screenFonts: e.SCREEN_FONTS === undefined ? undefined : folder('SCREEN_FONTS', e.SCREEN_FONTS),
    auditFile: path.resolve(e.AUDIT_FILE ?? path.join(e.DATA_DIR, 'audit.jsonl')),
    agentsFile: e.AGENTS_FILE,
    auth: auth(e),
    auditSigningKey: e.AUDIT_SIGNING_KEY,
    cardSigningKey: e.CARD_SIGNING_KEY,
    heartbeat: { intervalSeconds: e.HEARTBEAT_INTERVAL_SECONDS, timeoutSeconds: e.HEARTBEAT_TIMEOUT_SECONDS },
    replica: {
      id:
        e.REPLICA_ID ??
        `${hostname()
          .replace(/[^A-Za-z0-9._-]/g, '-')
          .slice(0, 48)}-${randomBytes(4).toString('hex')}`,
      leaseSeconds: e.REPLICA_LEASE_SECONDS,
      drainSeconds: e.DRAIN_SECONDS,
    },
    limits: {
      requestsPerMinute: e.RATE_LIMIT_MAX,
      attachesPerMinute: e.ATTACH_RATE_LIMIT_MAX,
      connectionsPerPrincipal: e.MAX_CONNECTIONS_PER_PRINCIPAL,
      connectionsPerAddress: e.MAX_CONNECTIONS_PER_ADDRESS,
      firstFrameSeconds: e.FIRST_FRAME_SECONDS,
      sessions: e.MAX_SESSIONS_PER_REPLICA,
      messageBytes: e.MAX_MESSAGE_BYTES,
    },
    legacyClients: e.LEGACY_CLIENTS === 'on',
    a2aFixture: e.A2A_FIXTURE === 'on',
    push: { allowedHosts: list(e.PUSH_ALLOWED_HOSTS ?? '').map(allowedHost) },
    traces: traces(e),
    logLevel: e.LOG_LEVEL,
  };
}

/** Where the embedded log is. */
export const logFolder = ({ dataDir }: Pick<Config, 'dataDir'>): string => path.join(dataDir, 'log');

/** Whether only this machine can reach a server that listens there. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

export function hasKey(config: Config): boolean {
  return Boolean(
    config.auth.secret ?? config.auth.secretFile ?? config.auth.publicKey ?? config.auth.jwksUrl ?? config.clientCertificates.mapFile,
  );
}

/** The URL of a server that listens there, as long as PUBLIC_URL does not say otherwise. */
export function localUrl(host: string, port: number, scheme: 'http' | 'https' = 'http'): PublicUrl {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return publicUrl(new URL(`${scheme}://${name.includes(':') ? `[${name}]` : name}:${port}`));
}

function checked(env: NodeJS.ProcessEnv): Environment {
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(Environment.properties)) {
    const raw = env[name];
    if (raw === undefined || raw === '') continue;
    values[name] = schema.type === 'integer' && /^-?\d{1,15}$/.test(raw) ? Number(raw) : raw;
    if (!Value.Check(schema, values[name])) throw wrong(name, raw, expected(schema));
  }
  return Value.Default(Environment, values) as Environment;
}

function wrong(name: string, raw: string, wanted: string): ConfigError {
  return new ConfigError(secret.has(name) ? `${name} is not usable; expected ${wanted}` : `${name} is ${shown(raw)}; expected ${wanted}`);
}

function auth(e: Environment): Config['auth'] {
  const bytes = Buffer.byteLength(e.AUTH_JWT_SECRET ?? '');
  if (bytes > 0 && bytes < 32) throw new ConfigError(`AUTH_JWT_SECRET has ${bytes} bytes; expected at least 32`);
  if (e.AUTH_JWT_SECRET !== undefined && e.AUTH_JWT_SECRET_FILE !== undefined)
    throw new ConfigError('AUTH_JWT_SECRET and AUTH_JWT_SECRET_FILE are both set; expected one of them');
  return {
    secret: e.AUTH_JWT_SECRET,
    secretFile: e.AUTH_JWT_SECRET_FILE,
    publicKey: e.AUTH_JWT_PUBLIC_KEY?.replaceAll('\\n', '\n'),
    jwksUrl: e.AUTH_JWKS_URL === undefined ? undefined : url('AUTH_JWKS_URL', e.AUTH_JWKS_URL).href,
    issuer: e.AUTH_JWT_ISSUER,
    audience: e.AUTH_JWT_AUDIENCE,
    clockSkewSeconds: e.AUTH_CLOCK_SKEW_SECONDS,
    expiryGraceSeconds: e.AUTH_EXPIRY_GRACE_SECONDS,
    revocationFile: e.REVOCATION_FILE === undefined ? undefined : path.resolve(e.REVOCATION_FILE),
    allowedOrigins: e.ALLOWED_ORIGINS === undefined ? undefined : origins('ALLOWED_ORIGINS', e.ALLOWED_ORIGINS),
  };
}

function tls(e: Environment): Config['tls'] {
  const { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile, TLS_CLIENT_CA_FILE: clientCaFile } = e;
  demandBoth(e, 'TLS_CERT_FILE', 'TLS_KEY_FILE');
  demandBoth(e, 'TLS_KEY_FILE', 'TLS_CERT_FILE');
  demandBoth(e, 'TLS_CLIENT_CA_FILE', 'TLS_CERT_FILE');
  return certFile === undefined || keyFile === undefined ? undefined : { certFile, keyFile, clientCaFile };
}

/** Whoever writes the header is whom it names, so it is believed of listed proxies alone. */
function clientCertificates(e: Environment): Config['clientCertificates'] {
  const { CLIENT_CERT_MAP_FILE: mapFile, CLIENT_CERT_HEADER: header } = e;
  demandBoth(e, 'TLS_CLIENT_CA_FILE', 'CLIENT_CERT_MAP_FILE');
  demandBoth(e, 'CLIENT_CERT_HEADER', 'CLIENT_CERT_MAP_FILE');
  if (mapFile !== undefined && header === undefined) demandBoth(e, 'CLIENT_CERT_MAP_FILE', 'TLS_CLIENT_CA_FILE');
  if (header !== undefined && !Array.isArray(trustProxy(e.TRUST_PROXY)))
    throw new ConfigError('CLIENT_CERT_HEADER is set; expected TRUST_PROXY to list the addresses or CIDRs of the proxies that write it');
  return { mapFile, header: header?.toLowerCase() };
}

function demandBoth(e: Environment, given: keyof Environment, needed: keyof Environment): void {
  if (e[given] !== undefined && e[needed] === undefined) throw new ConfigError(`${given} is set, but ${needed} is not; expected both`);
}

function redis(e: Environment): Config['redis'] {
  const { REDIS_URL: url, REDIS_SENTINEL_MASTER: sentinelMaster, REDIS_KEY_PREFIX: prefix } = e;
  const durable = e.REDIS_DURABLE === 'true';
  if (durable && (sentinelMaster !== undefined || !url || list(url).length > 1)) {
    throw new ConfigError(
      'REDIS_DURABLE is true, but Redis is not one server; expected false: a replica that is promoted may lack the newest',
    );
  }
  if (url === undefined) {
    if (sentinelMaster !== undefined) throw new ConfigError('REDIS_SENTINEL_MASTER is set, but REDIS_URL is not; expected both or neither');
    return undefined;
  }
  return { url, sentinelMaster, prefix, durable };
}

function traces(e: Environment): boolean {
  for (const name of ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] as const) {
    const endpoint = e[name];
    if (endpoint !== undefined) url(name, endpoint);
  }
  if (e.OTEL_SDK_DISABLED === 'true') return false;
  if (e.OTEL_TRACES_EXPORTER !== undefined) return e.OTEL_TRACES_EXPORTER === 'otlp';
  return (e.OTEL_EXPORTER_OTLP_ENDPOINT ?? e.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) !== undefined;
}

function archive(e: Environment): Config['archive'] {
  const { ARCHIVE_URL: raw, ARCHIVE_ENDPOINT: endpoint, ARCHIVE_PATH_STYLE: pathStyle } = e;
  if (raw === undefined) {
    if (endpoint !== undefined) throw new ConfigError('ARCHIVE_ENDPOINT is set, but ARCHIVE_URL is not; expected both or neither');
    return undefined;
  }
  const place = readPlace(raw, {
    endpoint: endpoint === undefined ? undefined : url('ARCHIVE_ENDPOINT', endpoint).href,
    pathStyle: pathStyle === undefined ? undefined : pathStyle === 'true',
  });
  if (!place) throw wrong('ARCHIVE_URL', raw, 'file:///folder or s3://bucket/prefix, without credentials');
  if (endpoint !== undefined && place.kind !== 's3') {
    throw new ConfigError('ARCHIVE_ENDPOINT is set, but ARCHIVE_URL is a folder; expected s3://bucket/prefix with it');
  }
  return { place, retentionSeconds: e.ARCHIVE_RETENTION_SECONDS };
}

/** No message shows what is wrong in a value that is secret, but for the name of the key. */
function encryptionKeys(raw = ''): NamedKey[] {
  const keys = list(raw).map((part, i) => {
    const [, kid, base64] = /^([A-Za-z0-9._-]{1,64}):([A-Za-z0-9+/]+={0,2})$/.exec(part) ?? [];
    if (kid === undefined || base64 === undefined) {
      throw new ConfigError(
        `REPLAY_ENCRYPTION_KEYS: entry ${i + 1} is not kid:base64key, where kid has 1 to 64 characters of A-Z a-z 0-9 . _ -`,
      );
    }
    const key = Buffer.from(base64, 'base64');
    if (key.length !== KEY_BYTES) {
      throw new ConfigError(`REPLAY_ENCRYPTION_KEYS: the key ${kid} has ${key.length} bytes; expected ${KEY_BYTES} in base64`);
    }
    return { kid, key };
  });
  const twice = keys.find(({ kid }, i) => keys.findIndex((other) => other.kid === kid) !== i);
  if (twice) throw new ConfigError(`REPLAY_ENCRYPTION_KEYS names the key ${twice.kid} twice`);
  return keys;
}

function allowedHost(text: string): AllowedHost {
  const read = readAllowedHost(text);
  if (!read) throw wrong('PUSH_ALLOWED_HOSTS', text, 'a host, host:port, address or CIDR, as receiver.internal:8443 or 10.1.0.0/16');
  return read;
}

function list(value: string): string[] {
  return value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function trustProxy(raw: string): boolean | number | string[] {
  if (raw === 'true' || raw === 'false') return raw === 'true';
  if (/^\d{1,3}$/.test(raw)) return Number(raw);
  const parts = list(raw);
  if (parts.length === 0 || !parts.every(isNetwork)) throw wrong('TRUST_PROXY', raw, 'true, false, a number of hops, or a list of CIDRs');
  return parts;
}

/** What Fastify takes as well: a name of its own, an address, or an address and how many bits of it count. */
function isNetwork(text: string): boolean {
  if (['loopback', 'linklocal', 'uniquelocal'].includes(text)) return true;
  const [, address = '', bits = '1'] = /^([0-9a-fA-F:.]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const most = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  return Number(bits) >= 1 && Number(bits) <= most;
}

/** Absolute. */
function folder(name: string, raw: string): string {
  if (!statSync(raw, { throwIfNoEntry: false })?.isDirectory()) throw wrong(name, raw, 'a folder');
  return path.resolve(raw);
}

function url(name: string, raw: string): URL {
  const parsed = URL.canParse(raw) ? new URL(raw) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol)) throw wrong(name, raw, 'an http:// or https:// URL');
  if (parsed.username || parsed.password)
    throw new ConfigError(`${name} carries a user name or password; expected an http:// or https:// URL without`);
  return parsed;
}

/** A URL that others are built on. */
function base(name: string, raw: string): URL {
  if (/[?#]/.test(raw)) throw wrong(name, raw, 'an http:// or https:// URL without query and fragment');
  return url(name, raw);
}

function origins(name: string, raw: string): string[] {
  const found = list(raw).map((part) => {
    const { origin, href } = url(name, part);
    if (href !== `${origin}/`) throw wrong(name, part, 'an origin, as https://gateway.example');
    return origin;
  });
  if (found.length === 0) throw wrong(name, raw, 'at least one origin, as https://gateway.example');
  return found;
}

function publicUrl({ origin, pathname }: URL): PublicUrl {
  const prefix = pathname.replace(/\/+$/, '');
  return { http: origin + prefix, ws: origin.replace(/^http/, 'ws') + prefix, origin, prefix };
}
