// What an upgrade request asks for, read from its headers. Knows no request and no key; nothing here judges a token.
import { MAX_EXTENSIONS, MAX_URI_CHARS } from './envelope.js';
import { BEARER_PREFIX, BINARY_SUBPROTOCOL, JSON_SUBPROTOCOL, type Subprotocol } from './names.js';

type Header = string | readonly string[] | undefined;

/** The first supported one in the client's order, to be echoed as it is; undefined is a 400 (pty-ws §2.2). */
export function chooseSubprotocol(header: Header): Subprotocol | undefined {
  return items(header).find((offer) => offer === JSON_SUBPROTOCOL || offer === BINARY_SUBPROTOCOL) as Subprotocol | undefined;
}

/** The token that a browser offers as the subprotocol `bearer.<base64url>`; undefined if there is none, or it cannot be one. */
export function bearerFromSubprotocols(header: Header): string | undefined {
  const offer = items(header).find((item) => item.startsWith(BEARER_PREFIX));
  if (!offer || !/^[\w-]+$/.test(offer.slice(BEARER_PREFIX.length))) return undefined;
  const token = Buffer.from(offer.slice(BEARER_PREFIX.length), 'base64url').toString('latin1');
  return /^[\x21-\x7e]+$/.test(token) ? token : undefined;
}

/** The URIs of an `A2A-Extensions` header, each once; at most 16, of at most 256 characters, and what is beyond that is not read. */
export function parseExtensions(header: Header): string[] {
  const uris = items(header).filter((uri) => uri.length <= MAX_URI_CHARS);
  return [...new Set(uris)].slice(0, MAX_EXTENSIONS);
}

/** A header that is a list, whether it came in one line or in several. */
function items(header: Header): string[] {
  if (header === undefined) return [];
  const text = typeof header === 'string' ? header : header.join(',');
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
