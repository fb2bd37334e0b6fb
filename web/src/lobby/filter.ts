// Which sessions somebody looks for, by what they typed. Pure: knows no view.
import type { SessionDescription } from '../../../src/session/session.js';
import { nameOf } from './session-row.js';

/** Every word must stand somewhere in its name, its title, its agent, who made it or who is in it; letters of either case. */
export function matches(session: SessionDescription, typed: string): boolean {
  const { instance_id, session_id, created_by, title, state, controllers, observers } = session;
  const people = [...controllers, ...observers].map(({ label }) => label);
  const text = [nameOf(session), title, instance_id, session_id, created_by, state, ...people].join('\n').toLowerCase();
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
