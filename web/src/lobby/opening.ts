// Which session is opened for one who names an agent alone. Knows no view.
import type { Principal } from '../../../src/access/principal.js';
import type { Gateway, NewSession } from '../shared/gateway.js';
import type { Place } from '../shared/place.js';
import { mayStart } from '../shared/rights.js';

/** The newest running session of the agent, or a new one where there is none; undefined if there is none and this visitor may start none. */
export async function newestOrNew(gateway: Gateway, principal: Principal, instanceId: string): Promise<Place | undefined> {
  const newest = await gateway.newestRunning(instanceId);
  if (newest) return placeOf(instanceId, newest.session_id);
  return mayStart(principal, instanceId) ? startNew(gateway, instanceId, {}) : undefined;
}

/** A session that was asked for with a size keeps it; any other follows the window. */
export async function startNew(gateway: Gateway, instanceId: string, request: NewSession): Promise<Place> {
  const { session_id } = await gateway.create(instanceId, request);
  return { ...placeOf(instanceId, session_id), follow: request.cols === undefined && request.rows === undefined };
}

const placeOf = (instanceId: string, sessionId: string): Place => ({ instanceId, sessionId, role: 'controller', follow: true });
