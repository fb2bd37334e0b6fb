// The sessions that one principal may see: the one place where it is decided, for every route and every A2A operation. Knows no request.
import { Fault } from '../errors.js';
import { isId } from '../protocol/ids.js';
import type { ListedSession } from '../session/listed-session.js';
import type { Sessions } from '../session/registry.js';
import type { Session } from '../session/session.js';
import { mayCreate, names, type Principal, reaches, sees } from './principal.js';

interface Found {
  readonly session: Session | undefined;
  /** There is nothing to see for this principal, whether there is a session or not: for the audit, which is told what clients are not. */
  readonly isDenial: boolean;
}

const nothing: Found = { session: undefined, isDenial: false };
const denied: Found = { session: undefined, isDenial: true };

export class VisibleSessions {
  readonly #all: Pick<Sessions, 'find' | 'creatorOf' | 'list'>;
  readonly #principal: Principal;

  constructor(all: Pick<Sessions, 'find' | 'creatorOf' | 'list'>, principal: Principal) {
    this.#all = all;
    this.#principal = principal;
  }

  /** No session for what is not there and for what is not this principal's to see, alike: neither is opened, nor is its replica asked. */
  async find(instanceId: string, sessionId: string): Promise<Found> {
    if (!isId(sessionId)) return nothing;
    if (!reaches(this.#principal, instanceId, sessionId)) return denied;
    if (!names(this.#principal, sessionId)) {
      const creator = await this.#all.creatorOf(instanceId, sessionId);
      if (creator === undefined) return nothing;
      if (!sees(this.#principal, instanceId, sessionId, creator)) return denied;
    }
    return { session: await this.#all.find(instanceId, sessionId), isDenial: false };
  }

  /** The newest first. */
  async list(instanceId: string): Promise<ListedSession[]> {
    const all = await this.#all.list(instanceId);
    return all.filter((session) => sees(this.#principal, instanceId, session.id, session.createdBy));
  }

  /** PERMISSION_DENIED where a session that is created now would not be seen by who created it. */
  demandCreation(): void {
    if (!mayCreate(this.#principal)) throw new Fault('PERMISSION_DENIED', 'this token is good for the sessions that it names alone');
  }
}
