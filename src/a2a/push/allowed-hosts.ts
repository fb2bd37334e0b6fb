// What an operator allows beside the public internet: hosts, addresses and networks, each with a port or for all. Knows no request.
import ipaddr, { type IPv4, type IPv6 } from 'ipaddr.js';

export interface AllowedHost {
  /** One of both is there. */
  readonly name?: string;
  readonly network?: Network;
  /** Undefined: all of them. */
  readonly port?: number;
}
export type Network = readonly [address: IPv4 | IPv6, bits: number];

/** Reads `receiver.internal`, `receiver.internal:8443`, `10.1.2.3`, `[::1]:8080` or `10.1.0.0/16`; undefined for anything else. */
export function readAllowedHost(text: string): AllowedHost | undefined {
  const network = readNetwork(text);
  if (network) return { network };
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const port = digits === undefined ? {} : { port: Number(digits) };
  if (port.port !== undefined && (port.port < 1 || port.port > 65_535)) return undefined;
  const address = readNetwork(bracketed ?? plain ?? '');
  if (address) return { network: address, ...port };
  const name = plain?.toLowerCase();
  return name !== undefined && isHostName(name) ? { name, ...port } : undefined;
}

/** Whether an address, read by ipaddr's `process`, is in a network. */
export function isIn(address: IPv4 | IPv6, [network, bits]: Network): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}

/** No short and octal forms of IPv4, and none of it in IPv6's clothes: they would not mean what they seem to. */
function readNetwork(text: string): Network | undefined {
  const [address = '', bits] = text.split('/', 2);
  const isVersion4 = ipaddr.IPv4.isValidFourPartDecimal(address);
  if (!isVersion4 && !ipaddr.IPv6.isValid(address)) return undefined;
  if (!isVersion4 && ipaddr.process(address).kind() === 'ipv4') return undefined;
  if (bits === undefined) return [ipaddr.parse(address), isVersion4 ? 32 : 128];
  return ipaddr.isValidCIDR(text) ? ipaddr.parseCIDR(text) : undefined;
}

/** A name that a URL would keep as it is. */
function isHostName(name: string): boolean {
  const url = `http://${name}/`;
  return /^[a-z0-9._-]+$/.test(name) && URL.canParse(url) && new URL(url).hostname === name;
}
