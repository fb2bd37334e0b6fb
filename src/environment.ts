// Every setting by name: default, unit and range. Knows not what is done with it.
import { type Static, Type } from '@sinclair/typebox';
import { logLevels } from './logging/log-level.js';

/** Most seconds that any interval may be set to: a day. */
const DAY_SECONDS = 86_400;
const TEN_YEARS_SECONDS = 315_360_000;

const seconds = (value: number, minimum: number, description: string) =>
  Type.Integer({ minimum, maximum: DAY_SECONDS, default: value, description });
const text = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));

/** Every name that the gateway reads, with default, unit and range. An empty value counts as absent. */
export const Environment = Type.Object({
  HOST: Type.String({ default: '127.0.0.1', description: 'Listen address.' }),
  PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 8080, description: 'Listen port; 0 takes a free one.' }),
  PUBLIC_URL: text('What AgentCards and pty_ws_url are built from; from HOST and PORT if absent.'),
  TRUST_PROXY: Type.String({ default: 'false', description: "Hops, or a list of CIDRs, as Fastify's trustProxy." }),
  REDIS_URL: text('redis://, rediss:// or a list of cluster nodes.'),
  REDIS_SENTINEL_MASTER: text('Name of the master that Sentinels watch.'),
  REDIS_DURABLE: Type.Union([Type.Literal('true'), Type.Literal('false')], {
    default: 'false',
    description: 'Whether Redis loses nothing that it took: one server with appendfsync always, never put back from a copy.',
  }),
  REDIS_KEY_PREFIX: Type.String({ default: 'pty', pattern: '^[A-Za-z0-9._:-]{1,64}$', title: '1 to 64 characters of A-Z a-z 0-9 . _ : -' }),
  DATA_DIR: Type.String({ default: './data', description: 'Folder of the embedded log and the audit file.' }),
  AGENTS_FILE: text('JSON or YAML; a shell if absent.'),
  AUTH_JWT_SECRET: text('HS256/384/512 key of at least 32 bytes.'),
  AUTH_JWT_SECRET_FILE: text(
    'File of such keys, 1 to 8, a line each, instead of AUTH_JWT_SECRET: the first makes tokens, all check them; read again when it changes.',
  ),
  AUTH_JWT_PUBLIC_KEY: text(
    'PEM of an RSA, EC or Ed25519 public key, or the path of a file that holds one; a file is read again when it changes.',
  ),
  AUTH_JWKS_URL: text('Where public keys are fetched by kid.'),
  AUTH_JWT_ISSUER: text('iss of a token, where set.'),
  AUTH_JWT_AUDIENCE: text('aud of a token, where set.'),
  TLS_CERT_FILE: text(
    'PEM of the certificate, and those between it and its authority, that clients are shown; read again when it changes.',
  ),
  TLS_KEY_FILE: text('PEM of its key.'),
  TLS_CLIENT_CA_FILE: text("PEM of the authorities of clients' certificates: clients are asked for one, and may come without."),
  CLIENT_CERT_MAP_FILE: text('Who clients with certificates are, and what they may; JSON or YAML, read again when it changes.'),
  CLIENT_CERT_HEADER: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9-]{1,64}$',
      title: 'the name of a header',
      description: 'Where proxies of TRUST_PROXY put certificates.',
    }),
  ),
  AUTH_CLOCK_SKEW_SECONDS: Type.Integer({ minimum: 0, maximum: 600, default: 5, description: 'Leeway for exp and nbf.' }),
  AUDIT_SIGNING_KEY: text('As CARD_SIGNING_KEY: the audit file gets signed checkpoints.'),
  CARD_SIGNING_KEY: text('PEM of an EC P-256 private key, or the path of a file that holds one: AgentCards are signed with it.'),
  AUTH_EXPIRY_GRACE_SECONDS: seconds(0, 0, 'How long what is open stays open behind the end of its token.'),
  REVOCATION_FILE: text(
    'What was revoked, a line each: jti:<token id>, sub:<principal>, cert:<SHA-256> or serial:<number>; read again when it changes.',
  ),
  ALLOWED_ORIGINS: text('Comma-separated origins for browser upgrades; the same origin if absent.'),
  HEARTBEAT_INTERVAL_SECONDS: seconds(30, 1, 'Between two WebSocket Pings.'),
  HEARTBEAT_TIMEOUT_SECONDS: seconds(90, 1, 'After which a silent peer is reaped.'),
  REPLICA_ID: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$', title: '1 to 64 characters of A-Z a-z 0-9 . _ -' })),
  REPLICA_LEASE_SECONDS: seconds(10, 1, 'After which a dead replica is believed dead.'),
  DRAIN_SECONDS: seconds(20, 0, 'How long owned terminals outlive SIGTERM while clients remain.'),
  RATE_LIMIT_MAX: Type.Integer({ minimum: 1, default: 600, description: 'HTTP requests a minute, per principal and instance.' }),
  ATTACH_RATE_LIMIT_MAX: Type.Integer({ minimum: 1, default: 120, description: 'Upgrades a minute, per principal and instance.' }),
  MAX_CONNECTIONS_PER_PRINCIPAL: Type.Integer({ minimum: 1, default: 1000, description: 'WebSockets of one principal on one replica.' }),
  MAX_CONNECTIONS_PER_ADDRESS: Type.Integer({ minimum: 1, default: 4000, description: 'The same of one address, or of one IPv6 /64.' }),
  FIRST_FRAME_SECONDS: seconds(60, 1, 'In which a client that has connected has to send its first frame.'),
  MAX_SESSIONS_PER_REPLICA: Type.Integer({ minimum: 1, default: 1000, description: 'Running sessions.' }),
  MAX_MESSAGE_BYTES: Type.Integer({ minimum: 1024, maximum: 67_108_864, default: 1_048_576, description: 'Largest WebSocket message.' }),
  REPLAY_ENCRYPTION_KEYS: text('kid:base64key list, AES-256; the first encrypts, all decrypt.'),
  ARCHIVE_URL: text('Where what leaves the log is kept on: file:///folder or s3://bucket/prefix; nowhere if absent.'),
  ARCHIVE_ENDPOINT: text("URL of an S3 server that is not Amazon's."),
  ARCHIVE_PATH_STYLE: Type.Optional(
    Type.Union([Type.Literal('true'), Type.Literal('false')], {
      description: 'Whether the bucket is in the path, not in the host name; true if absent and there is an ARCHIVE_ENDPOINT.',
    }),
  ),
  ARCHIVE_RETENTION_SECONDS: Type.Integer({
    minimum: 1,
    maximum: TEN_YEARS_SECONDS,
    default: 30 * DAY_SECONDS,
    description: 'How long the archive keeps a frame, and a session that has ended.',
  }),
  PUSH_ALLOWED_HOSTS: text('Private receivers of push notifications: hosts, host:port, addresses and CIDRs, separated by commas.'),
  SCREEN_FONTS: text("A folder of fonts (TTF, OTF, TTC) for what the gateway's own do not have; those of the system if absent."),
  AUDIT_FILE: text('DATA_DIR/audit.jsonl if absent.'),
  OTEL_SDK_DISABLED: Type.Union([Type.Literal('true'), Type.Literal('false')], { default: 'false', description: 'true: no traces.' }),
  OTEL_TRACES_EXPORTER: Type.Optional(
    Type.Union([Type.Literal('otlp'), Type.Literal('none')], { description: 'otlp if absent and an endpoint is named, else none.' }),
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: text('Base URL of a collector, to which traces go; http://localhost:4318 if absent and traces are wanted.'),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: text('The whole URL that traces go to.'),
  OTEL_EXPORTER_OTLP_PROTOCOL: Type.Optional(Type.Literal('http/protobuf', { description: 'What is spoken with the collector.' })),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: Type.Optional(Type.Literal('http/protobuf', { description: 'The same, for traces alone.' })),
  LEGACY_CLIENTS: Type.Union([Type.Literal('on'), Type.Literal('off')], {
    default: 'on',
    description: 'Whether clients of the reference implementation are spoken to in its dialect.',
  }),
  A2A_FIXTURE: Type.Union([Type.Literal('on'), Type.Literal('off')], {
    default: 'off',
    description: 'An agent in memory for the A2A conformance kit, as the instance a2a-fixture.',
  }),
  LOG_LEVEL: Type.Union(
    logLevels.map((level) => Type.Literal(level)),
    { default: 'info', description: 'The least that is logged; `pty-gateway log-level` changes it while it runs.' },
  ),
});
export type Environment = Static<typeof Environment>;

/** Values that no message may show. */
export const secret: ReadonlySet<string> = new Set([
  'ARCHIVE_URL',
  'AUTH_JWT_SECRET',
  'AUDIT_SIGNING_KEY',
  'AUTH_JWT_PUBLIC_KEY',
  'CARD_SIGNING_KEY',
  'REDIS_URL',
  'REPLAY_ENCRYPTION_KEYS',
]);
