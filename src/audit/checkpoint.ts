// A signature over a chain up to a line, so that who can write the file cannot write it anew from the beginning. Knows no file.
import { type KeyObject, sign, verify } from 'node:crypto';
import type { Link } from './chain.js';

/** How the detail of a checkpoint begins. */
const MARK = 'ES256 ';

/** What signs a line: itself is the line after `link`. */
export type Signer = (before: Link) => string;

const signed = ({ n, hash }: Link) => Buffer.from(`pty-gateway audit ${n} ${hash}`);

/** The key is an EC key on P-256. */
export function signer(key: KeyObject): Signer {
  return (before) => MARK + sign('sha256', signed(before), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url');
}

/** Whether the detail of a checkpoint is a signature with this key's private half over the chain up to the line before it. */
export function isSigned(detail: unknown, before: Link, key: KeyObject): boolean {
  if (typeof detail !== 'string' || !detail.startsWith(MARK)) return false;
  const signature = Buffer.from(detail.slice(MARK.length), 'base64url');
  return verify('sha256', signed(before), { key, dsaEncoding: 'ieee-p1363' }, signature);
}
