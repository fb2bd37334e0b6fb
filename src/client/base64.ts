// Base64 where there is no Buffer. Knows nothing else.

/** Bytes given to `fromCharCode` at once: far below any engine's limit on arguments. */
const SLICE = 8192;

export function toBase64(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += SLICE) text += String.fromCharCode(...bytes.subarray(at, at + SLICE));
  return btoa(text);
}

/** Throws if the text is no base64. */
export function fromBase64(text: string): Uint8Array {
  const decoded = atob(text);
  const bytes = new Uint8Array(decoded.length);
  for (let at = 0; at < decoded.length; at++) bytes[at] = decoded.charCodeAt(at);
  return bytes;
}

/** RFC 4648 §5 without padding, as a subprotocol may carry it. */
export function toBase64Url(text: string): string {
  return toBase64(new TextEncoder().encode(text)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}
