// Where notifications may go: the public internet over https, and what the operator allows (A2A 1.0 §13.2). Knows no notification.
//
// What is checked is what is connected to: a name is resolved once for each connection, its addresses are looked at, and the
// connection is made to one of those, so that a name which means something else a moment later gains nothing.
import { type LookupAddress, type LookupOptions, lookup as lookUp } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr, { type IPv4, type IPv6 } from 'ipaddr.js';
import { buildConnector } from 'undici';
import { type AllowedHost, isIn } from './allowed-hosts.js';

/** How long a connection may take to be there, name and TLS included, in milliseconds. */
const CONNECT_MS = 5000;

/** Asks for all addresses of a name. */
export type Resolve = (
  name: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** What a connection is asked for: `host` is a name without the dot at its end, or an address without brackets. */
interface Target {
  readonly isEncrypted: boolean;
  readonly host: string;
  readonly port: number;
}

/** A connection that was not made, because of where it would have gone. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

export class AddressGuard {
  readonly #allowed: readonly AllowedHost[];
  readonly #resolve: Resolve;

  constructor(allowed: readonly AllowedHost[], resolve: Resolve = lookUp) {
    this.#allowed = allowed;
    this.#resolve = resolve;
  }

  /** Why nothing may be sent to a URL, as far as it can be told without asking what its name means; undefined if it may. */
  refusal(text: string): string | undefined {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (!url || !/^https?:$/.test(url.protocol)) return 'expected an https:// URL';
    if (url.username || url.password) return 'expected a URL without user name and password';
    const target = targetOf(url);
    if (this.#isNamed(target)) return undefined;
    if (isIP(target.host)) return this.#permits(target.host, target) ? undefined : refused(target);
    if (isLoopbackName(target.host))
      return this.#permits('127.0.0.1', target) || this.#permits('::1', target) ? undefined : refused(target);
    if (target.isEncrypted || this.#allowed.some(({ network }) => network)) return undefined;
    return 'expected an https:// URL; http:// is for the hosts of PUSH_ALLOWED_HOSTS alone';
  }

  /** Makes connections to permitted addresses alone; others fail with AddressRefused. */
  connector(): buildConnector.connector {
    return (options, callback) => {
      const target = targetOf(new URL(`${options.protocol}//${authority(options)}`));
      if (isIP(target.host) && !this.#permits(target.host, target)) callback(new AddressRefused(refused(target)), null);
      else buildConnector({ timeout: CONNECT_MS, lookup: this.#lookup(target) })(options, callback);
    };
  }

  /** Resolves to what may be connected to. */
  #lookup(target: Target): LookupFunction {
    return (name, options, callback) => {
      this.#resolve(name, { ...options, all: true }, (error, found) => {
        const permitted = error ? [] : found.filter(({ address }) => this.#permits(address, target));
        const [first] = permitted;
        if (error) callback(error, '');
        else if (!first) callback(new AddressRefused(refused(target)), '');
        else if (options.all) callback(null, permitted);
        else callback(null, first.address, first.family);
      });
    };
  }

  #permits(address: string, target: Target): boolean {
    if (this.#isNamed(target)) return true;
    if (!ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    if (this.#allowed.some(({ network, port }) => network && isIn(parsed, network) && isPort(port, target))) return true;
    return target.isEncrypted && isPublic(parsed);
  }

  #isNamed(target: Target): boolean {
    return this.#allowed.some(({ name, port }) => name === target.host && isPort(port, target));
  }
}

/** All that IPv6 has in public use (RFC 4291 §2.4). */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

function isPublic(address: IPv4 | IPv6): boolean {
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || isIn(address, globalUnicast));
}

const isPort = (port: number | undefined, target: Target) => port === undefined || port === target.port;
const isLoopbackName = (host: string) => host === 'localhost' || host.endsWith('.localhost');
const refused = ({ host }: Target) => `${host} is no address that notifications may be sent to`;

function targetOf({ protocol, hostname, port }: URL): Target {
  const isEncrypted = protocol === 'https:';
  const host = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  return { isEncrypted, host, port: port === '' ? (isEncrypted ? 443 : 80) : Number(port) };
}

function authority({ hostname, port }: buildConnector.Options): string {
  const host = isIP(hostname) === 6 ? `[${hostname}]` : hostname;
  return port === '' ? host : `${host}:${port}`;
}
