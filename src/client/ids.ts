// Ids for what the client asks and says. Knows nothing else.

const prefix = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
let count = 0;

/** Unique among all clients, in an order that reads well in a trace (pty-ws §3 takes any string of 1–128 characters). */
export function newId(): string {
  count += 1;
  return `${prefix}-${count}`;
}
