// Where the page is, as told by the URL fragment: `#session=<instance>/<session>`, beside `token=…`. Knows no view.
import type { Role } from '../../src/protocol/frames.js';

/** A session, and how it is to be opened. */
export interface Place {
  readonly instanceId: string;
  readonly sessionId: string;
  readonly role: Role;
  /** Whether the session takes this window's size while this window controls it. */
  readonly follow: boolean;
}

export interface Fragment {
  readonly token: string | undefined;
  readonly place: Place | undefined;
}

export function readFragment(hash: string): Fragment {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  return { token: fields.get('token')?.trim() || undefined, place: readPlace(fields) };
}

function readPlace(fields: URLSearchParams): Place | undefined {
  const [instanceId, sessionId, ...rest] = (fields.get('session') ?? '').split('/');
  if (!instanceId || !sessionId || rest.length > 0) return undefined;
  return {
    instanceId,
    sessionId,
    role: fields.get('role') === 'observer' ? 'observer' : 'controller',
    follow: fields.get('size') !== 'fixed',
  };
}

/** The fragment that opens this place; it holds no token. */
export function fragmentOf(place: Place): string {
  const role = place.role === 'observer' ? '&role=observer' : '';
  const size = place.follow ? '' : '&size=fixed';
  return `#session=${place.instanceId}/${place.sessionId}${role}${size}`;
}

export function samePlace(a: Place | undefined, b: Place | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && fragmentOf(a) === fragmentOf(b));
}
