// What keeps an entry from being taken by any log. Knows no store.
import type { Entry } from '../log.js';

const ASCII = /^[\x20-\x7e]*$/;

/** In words, what is wrong with an entry, whose body may have so many bytes; undefined if it can be taken. */
export function faultOf({ kind, id, ts, body }: Entry, maxBodyBytes: number): string | undefined {
  if (kind.length < 1 || kind.length > 32 || !ASCII.test(kind)) return 'its kind is not 1 to 32 ASCII characters';
  if (id.length > 255 || !ASCII.test(id)) return 'its id is not at most 255 ASCII characters';
  if (!Number.isFinite(ts)) return 'its ts is not a number';
  return body.length > maxBodyBytes ? `its body has ${body.length} bytes, more than ${maxBodyBytes}` : undefined;
}
