// Where the page is, as told by the URL fragment: `#session=<instance>/<session>`, or `open=<instance>`, beside `token=…`. Knows no view.
import type { Role } from '../../../src/protocol/frames.js';

/** A session, and how it is to be opened. */
export interface Place {
  readonly instanceId: string;
  readonly sessionId: string;
  readonly role: Role;
  /** Whether the session takes this window's size while this window controls it. */
  readonly follow: boolean;
  /** Seconds after its beginning, from which it is to be played; absent: it is attached to. */
  readonly at?: number;
}

export interface Fragment {
  readonly token: string | undefined;
  readonly place: Place | undefined;
  /** An agent of which a session is to be opened, whichever runs; a place goes before it. */
  readonly open: string | undefined;
}

export function readFragment(hash: string): Fragment {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const place = readPlace(fields);
  const field = (name: string) => fields.get(name)?.trim() || undefined;
  return { token: field('token'), place, open: place ? undefined : field('open') };
}

function readPlace(fields: URLSearchParams): Place | undefined {
  const [instanceId, sessionId, ...rest] = (fields.get('session') ?? '').split('/');
  if (!instanceId || !sessionId || rest.length > 0) return undefined;
  return {
    instanceId,
    sessionId,
    role: fields.get('role') === 'observer' ? 'observer' : 'controller',
    follow: fields.get('size') !== 'fixed',
    ...readMoment(fields.get('t')),
  };
}

/** A moment that is none is the beginning. */
function readMoment(text: string | null): { at?: number } {
  if (text === null) return {};
  return { at: /^\d{1,9}(\.\d{1,3})?$/.test(text) ? Number(text) : 0 };
}

/** The fragment that opens this place; it holds no token. */
export function fragmentOf(place: Place): string {
  const role = place.role === 'observer' ? '&role=observer' : '';
  const size = place.follow ? '' : '&size=fixed';
  const moment = place.at === undefined ? '' : `&t=${Math.round(place.at * 1000) / 1000}`;
  return `#session=${place.instanceId}/${place.sessionId}${role}${size}${moment}`;
}

export function samePlace(a: Place | undefined, b: Place | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && fragmentOf(a) === fragmentOf(b));
}
