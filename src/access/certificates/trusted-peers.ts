// Which peers are proxies whose headers are believed: those that TRUST_PROXY lists. Knows no header.
import { BlockList, isIP } from 'node:net';

/** Names for networks, as Fastify's trustProxy has them. */
const named: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** Whether the address at the other end of a socket is among these addresses, CIDRs and names of networks. */
export function trustedPeers(networks: readonly string[]): (address: string | undefined) => boolean {
  const list = new BlockList();
  for (const network of networks.flatMap((name) => named[name] ?? [name])) {
    const [address = '', bits] = network.split('/');
    const family = familyOf(address);
    if (family) list.addSubnet(address, bits === undefined ? longest[family] : Number(bits), family);
  }
  return (address = '') => {
    const family = familyOf(address);
    return family !== undefined && list.check(address, family);
  };
}

const longest = { ipv4: 32, ipv6: 128 } as const;

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  const version = isIP(address);
  return version === 4 ? 'ipv4' : version === 6 ? 'ipv6' : undefined;
}
