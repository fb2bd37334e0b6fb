// Where Redis is, and clients of it: one server, a cluster, or the master that Sentinels watch. Knows no key.
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { Client } from './client.js';

/** Between two attempts to connect, in milliseconds: doubled from the first to the longest. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;
/** How long one attempt to connect may take, in milliseconds. */
const CONNECT_MS = 5_000;
/** How long a node of a cluster may take to say who serves what, in milliseconds. */
const SLOTS_MS = 3_000;
const REDIS_PORT = 6379;
const SENTINEL_PORT = 26379;

export interface RedisAddress {
  /** `redis://` or `rediss://`; several of them, separated by commas, are nodes of one cluster, or Sentinels. */
  readonly url: string;
  /** The name of the master that Sentinels watch: then `url` leads to the Sentinels, and its credentials are the master's. */
  readonly sentinelMaster?: string | undefined;
}

/** An address that leads nowhere; the message shows no password. */
export class RedisAddressError extends Error {
  override readonly name = 'RedisAddressError';
}

/** ioredis' own options; replies always have the shapes of RESP2. */
export type ClientOptions = Omit<RedisOptions, 'replyMapping'>;

export interface Node {
  readonly host: string;
  readonly port: number;
}

/** An address, read. */
export interface Target {
  readonly kind: 'single' | 'cluster' | 'sentinel';
  readonly nodes: readonly [Node, ...Node[]];
  readonly master: string | undefined;
  /** Database, credentials, TLS. */
  readonly access: ClientOptions;
  /** For messages. */
  readonly name: string;
}

/** Throws RedisAddressError, in one sentence. */
export function readAddress({ url, sentinelMaster }: RedisAddress): Target {
  const parts = url.split(',').map((part) => part.trim());
  const urls = parts.filter((part) => part !== '').map(readUrl);
  const [first] = urls;
  if (!first) throw new RedisAddressError('the address of Redis is empty; expected redis://host:port');
  const kind = sentinelMaster ? 'sentinel' : parts.length > 1 ? 'cluster' : 'single';
  const db = databaseOf(first, kind);
  const nodes = urls.map((one) => nodeOf(one, kind === 'sentinel' ? SENTINEL_PORT : REDIS_PORT)) as [Node, ...Node[]];
  const access: ClientOptions = { db, ...credentials(first), ...(first.protocol === 'rediss:' ? { tls: {} } : {}) };
  const places = nodes.map(({ host, port }) => `${host}:${port}`).join(', ');
  return { kind, nodes, master: sentinelMaster, access, name: sentinelMaster ? `${sentinelMaster} of ${places}` : places };
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && ['redis:', 'rediss:'].includes(url.protocol) && url.hostname !== '') return url;
  throw new RedisAddressError(`an address of Redis must be redis://host:port or rediss://host:port; ${shown(text)} is not`);
}

/** Without what may be a password. */
const shown = (text: string): string => JSON.stringify(text.replace(/\/\/.*@/, '//…@').slice(0, 60));

function databaseOf(url: URL, kind: Target['kind']): number {
  const text = url.pathname.replace(/^\//, '');
  if (!/^\d{0,5}$/.test(text))
    throw new RedisAddressError(`the path of an address of Redis is the number of a database, not ${shown(text)}`);
  if (kind === 'cluster' && Number(text) > 0) throw new RedisAddressError('a cluster has no database but 0');
  return Number(text);
}

function nodeOf(url: URL, port: number): Node {
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || port) };
}

function credentials({ username, password }: URL): ClientOptions {
  return {
    ...(username === '' ? {} : { username: decodeURIComponent(username) }),
    ...(password === '' ? {} : { password: decodeURIComponent(password) }),
  };
}

/** What goes out is answered or rejected when its connection breaks, and never sent again unseen. */
const plain: ClientOptions = {
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  connectTimeout: CONNECT_MS,
  disableClientInfo: true,
  retryStrategy: (times) => Math.min(FIRST_PAUSE_MS * 2 ** (times - 1), LONGEST_PAUSE_MS),
  sentinelRetryStrategy: (times) => Math.min(FIRST_PAUSE_MS * 2 ** (times - 1), LONGEST_PAUSE_MS),
  // A server that became a replica: its address may lead to the new master now.
  reconnectOnError: (error) => error.message.startsWith('READONLY'),
};

/**
 * A client that connects at once, and again whenever its connection breaks. A command rejects while there is none, and when the
 * connection breaks before its answer: it may or may not have been done. Throws RedisAddressError.
 */
export function connect(address: RedisAddress, more: ClientOptions = {}): Client {
  const target = readAddress(address);
  const client = target.kind === 'cluster' ? clusterOf(target, more) : serverOf(target, more);
  // Each command tells what failed; ioredis writes to the console what nobody listens to.
  client.on('error', () => {});
  return client;
}

function serverOf({ kind, nodes, master, access }: Target, more: ClientOptions): Redis {
  const options = { ...plain, ...access, ...more };
  if (kind !== 'sentinel') return new Redis({ ...options, ...nodes[0] });
  const secure = access.tls ? { sentinelTLS: access.tls, enableTLSForSentinelMode: true } : {};
  return new Redis({ ...options, sentinels: [...nodes], name: master ?? '', ...secure });
}

function clusterOf({ nodes, access }: Target, more: ClientOptions): Cluster {
  const { enableAutoPipelining = false, lazyConnect = false, enableOfflineQueue = false, ...each } = { ...plain, ...access, ...more };
  const { retryStrategy: _, path: __, host: ___, port: ____, sentinels: _____, ...redisOptions } = each;
  return new Cluster([...nodes], {
    redisOptions,
    enableOfflineQueue,
    enableAutoPipelining,
    lazyConnect,
    clusterRetryStrategy: (times) => Math.min(FIRST_PAUSE_MS * 2 ** times, LONGEST_PAUSE_MS),
    slotsRefreshTimeout: SLOTS_MS,
    // What was under way when a connection broke, or a cluster was down, may have been done: its sender decides.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    // A certificate is of a name.
    ...(access.tls ? { dnsLookup: (host: string, done: (error: null, address: string) => void) => done(null, host) } : {}),
  });
}

/** One connection that ends when it breaks: to this node of a cluster, or to the one server there is. */
export function connectOnce(target: Target, node: Node, more: ClientOptions = {}): Redis {
  const once: ClientOptions = { retryStrategy: () => null, reconnectOnError: () => false, enableOfflineQueue: true, ...more };
  const client = serverOf({ ...target, nodes: target.kind === 'sentinel' ? target.nodes : [node] }, once);
  client.on('error', () => {});
  return client;
}
