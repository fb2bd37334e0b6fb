// The certificate of a client in the header that a proxy writes: RFC 9440 `Client-Cert`, and what nginx, HAProxy, Traefik and Envoy write. Knows no request.
import { X509Certificate } from 'node:crypto';

/** Longest header that is read, in characters. */
const MAX_CHARS = 16_384;

/** Throws an Error for what holds no certificate. */
export function certificateIn(header: string): X509Certificate {
  if (header.length > MAX_CHARS) throw new Error(`it has more than ${MAX_CHARS} characters`);
  return new X509Certificate(encoded(header.trim()));
}

function encoded(text: string): string | Buffer {
  const elements = [...text.matchAll(/(?:^|[;,]) *Cert="([^"]*)"/gi)];
  // Envoy's proxies add an element each; the last is of the one that speaks with us.
  if (elements.length > 0) return decodeURIComponent(elements.at(-1)?.[1] ?? '');
  if (text.startsWith('-----BEGIN')) return decodeURIComponent(text);
  const [, base64] = /^:?([A-Za-z0-9+/]+={0,2}):?$/.exec(text) ?? [];
  if (base64 === undefined) throw new Error('it is neither base64 (RFC 9440) nor a PEM');
  return Buffer.from(base64, 'base64');
}
