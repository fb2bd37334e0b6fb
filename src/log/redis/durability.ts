// Whether a Redis that is said to keep all that it took is set up to. Knows no session.
//
// That nothing was lost cannot be seen in what Redis has after a restart: writes that it acknowledged and had not put on its disk leave no
// trace, a replica that was promoted may lack the last of them, and a copy that was put back is only older. So unless the operator says that
// none of this can happen (REDIS_DURABLE), a session whose owner died while Redis began another life goes on above a hole.
import type { Client } from '../../redis/client.js';
import { isPassing } from './troubles.js';

/**
 * In words, what makes that untrue; undefined if nothing does, or if Redis refuses the question: then what the operator says stands.
 * Rejects if Redis cannot be asked.
 */
export async function whyNotDurable(client: Client): Promise<string | undefined> {
  const asked = await client.call('CONFIG', 'GET', 'append*').catch(unlessRefused);
  const settings = new Map(pairs(asked));
  for (const [name, wanted] of [
    ['appendonly', 'yes'],
    ['appendfsync', 'always'],
  ] as const) {
    const found = settings.get(name) ?? wanted;
    if (found !== wanted) return `REDIS_DURABLE is true, but Redis has ${name} ${found}; expected ${wanted}`;
  }
  return undefined;
}

function unlessRefused(error: unknown): undefined {
  if (isPassing(error)) throw error;
}

function pairs(reply: unknown): Array<[string, string]> {
  if (!Array.isArray(reply)) return [];
  return Array.from({ length: Math.floor(reply.length / 2) }, (_, i) => [String(reply[2 * i]), String(reply[2 * i + 1])]);
}
