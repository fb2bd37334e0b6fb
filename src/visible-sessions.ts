// The sessions that one principal may see: the one place where it is decided, for every route and every A2A operation. Knows no request.
import { Fault } from './errors.js';
import { mayCreate, names, type Principal, reaches, sees } from './principal.js';
import { isId } from './protocol/ids.js';
import type { Sessions } from './session/registry.js';
import type { Session } from './session/session.js';

export class VisibleSessions {
  readonly #all: Pick<Sessions, 'find' | 'creatorOf' | 'list'>;
  readonly #principal: Principal;

  constructor(all: Pick<Sessions, 'find' | 'creatorOf' | 'list'>, principal: Principal) {
    this.#all = all;
    this.#principal = principal;
  }

  /** Undefined for what is not there and for what is not this principal's to see, alike: neither is opened, nor is its replica asked. */
  async find(instanceId: string, sessionId: string): Promise<Session | undefined> {
    if (!isId(sessionId) || !(await this.#sees(instanceId, sessionId))) return undefined;
    return this.#all.find(instanceId, sessionId);
  }

  /** The newest first. */
  async list(instanceId: string): Promise<Session[]> {
    const all = await this.#all.list(instanceId);
    return all.filter((session) => sees(this.#principal, instanceId, session.id, session.describe().created_by));
  }

  /** PERMISSION_DENIED where a session that is created now would not be seen by who created it. */
  demandCreation(): void {
    if (!mayCreate(this.#principal)) throw new Fault('PERMISSION_DENIED', 'this token is good for the sessions that it names alone');
  }

  async #sees(instanceId: string, sessionId: string): Promise<boolean> {
    if (!reaches(this.#principal, instanceId, sessionId)) return false;
    if (names(this.#principal, sessionId)) return true;
    return sees(this.#principal, instanceId, sessionId, await this.#all.creatorOf(instanceId, sessionId));
  }
}
