// A sender of push notifications that may reach this machine, and tries again soon. Knows no receiver.
import { AddressGuard } from '../../src/a2a/push/address-guard.js';
import { Notifier } from '../../src/a2a/push/notifier.js';
import type { Retries } from '../../src/a2a/push/retries.js';

export interface Notifying {
  readonly notifier: Notifier;
  /** What the operator is told. */
  readonly lines: Array<Readonly<Record<string, unknown>>>;
}

const quick: Retries = { attempts: 4, withinMs: 60_000, firstMs: 1, mostMs: 2 };

export function notifying({ patienceMs = 0, ...retries }: Partial<Retries & { patienceMs: number }> = {}): Notifying {
  const lines: Notifying['lines'] = [];
  const logger = { warn: (fields: object, message: string) => void lines.push({ ...fields, message }) };
  const guard = new AddressGuard([{ name: 'localhost' }]);
  return { lines, notifier: new Notifier({ guard, logger, patienceMs, retries: { ...quick, ...retries } }) };
}
