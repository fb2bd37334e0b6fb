// What stands in the place of a secret: for each character one of the same length in bytes. Knows no secret.

const ONE = '*';
const TWO = Buffer.from('·');
const THREE = Buffer.from('•');
/** Two columns wide, as nearly all characters in which it is put. */
const THREE_WIDE = Buffer.from('＊');
const FOUR = Buffer.from('🔒');

/**
 * Conceals the character that begins at `at`. The stream keeps its length, and the screen its columns: who moves the cursor by what it believes to
 * have printed is right, and two streams, one redacted and one raw, can be cut at the same places. Bytes that begin no character stay.
 */
export function conceal(bytes: Uint8Array, at: number): void {
  const lead = bytes[at] as number;
  if (lead < 0x80) bytes[at] = ONE.charCodeAt(0);
  else if (lead >= 0xc0) bytes.set(markFor(lead).subarray(0, bytes.length - at), at);
}

function markFor(lead: number): Uint8Array {
  if (lead < 0xe0) return TWO;
  if (lead >= 0xf0) return FOUR;
  return lead >= 0xe3 && lead <= 0xed ? THREE_WIDE : THREE;
}
