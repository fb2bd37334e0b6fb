// The ids that the gateway mints: UUIDv7, so that they sort by age (protocol R7). Knows nothing else.
import { v7, validate, version } from 'uuid';

/** A fresh id, later in order than those before it. */
export function newId(): string {
  return v7();
}

/** Whether a text could be an id of ours; clients' own ids may be any text. */
export function isId(text: string): boolean {
  return validate(text) && version(text) === 7;
}
