// By what an address is counted: of IPv6 the network of one customer, who has 2^64 addresses to come from. Knows no request.
import ipaddr from 'ipaddr.js';

/** Bits of an IPv6 address that say whose it is. */
const OWNER_BITS = 64;

export function addressKey(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return parsed.toString();
  const owner = parsed.parts.slice(0, OWNER_BITS / 16).map((part) => part.toString(16));
  return `${owner.join(':')}::/${OWNER_BITS}`;
}
