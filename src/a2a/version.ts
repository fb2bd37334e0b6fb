// Which version of A2A a request speaks (A2A 1.0 §3.6). Knows no operation.
import { A2aFault } from './errors.js';

/** The one that is spoken here, as Major.Minor. */
const VERSION = '1.0';
/** What a request speaks that does not say it (§3.6.2). */
const ASSUMED = '0.3';

/** Of the header or the query parameter `A2A-Version`. Throws VERSION_NOT_SUPPORTED; a patch number does not count. */
export function requireVersion(header: unknown, query: unknown): void {
  const given = [header, query].find((value) => typeof value === 'string' && value !== '') ?? ASSUMED;
  const [, spoken = String(given)] = /^\s*(\d+\.\d+)(?:\.\d+)?\s*$/.exec(String(given)) ?? [];
  if (spoken === VERSION) return;
  throw new A2aFault('VERSION_NOT_SUPPORTED', `A2A-Version: this agent speaks ${VERSION}, not ${spoken.slice(0, 16)}`);
}
