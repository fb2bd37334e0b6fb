// The client of a session as this page attaches: who one is, how one joins, and who is told of what comes. Knows no view.
import type { Principal } from '../../../src/access/principal.js';
import { type ClientEvents, connect, type Size, type TerminalClient } from '../../../src/client/index.js';
import { attachUrl } from '../shared/gateway.js';
import type { Place } from '../shared/place.js';

/** Somebody looks at the screen and types: a network that is frozen is noticed after 5 s of silence and 5 s without an answer. */
const HEARTBEAT = { quietMs: 5000, answerMs: 5000 };

export interface Attaching {
  readonly token: string;
  readonly principal: Principal;
  readonly place: Place;
  /** Of this window, where the session is to take it. */
  readonly size: Size | undefined;
  readonly replayFrom: number | undefined;
}

export function attach({ token, principal, place, size, replayFrom }: Attaching, events: Partial<ClientEvents>): TerminalClient {
  const client = connect({
    url: attachUrl(place.instanceId, place.sessionId),
    token,
    role: place.role,
    label: principal.name || 'web',
    heartbeat: HEARTBEAT,
    presence: true,
    ...(size && { size }),
    ...(replayFrom !== undefined && { replayFrom }),
  });
  for (const [name, listener] of Object.entries(events)) client.on(name as keyof ClientEvents, listener);
  return client;
}
