// Who is attached to a session and in which role (pty-ext §5). Pure: knows no log, no terminal and no socket.
import { Fault } from '../errors.js';
import type { MemberRef, MembershipChanged, Role } from '../protocol/frames.js';
import { entry, type Unnumbered } from '../protocol/make-frames.js';
import type { KeptMember } from './record.js';
import type { JoinRequest, Member } from './session.js';

export interface RosterLimits {
  readonly maxControllers: number;
  readonly maxObservers: number;
  /** The role of the first member, whatever it asks for; undefined honours what is asked (protocol R8). */
  readonly firstRole: 'controller' | undefined;
}

export interface Attached {
  readonly clientId: string;
  readonly label: string | undefined;
  readonly principal: string;
  readonly mayControl: boolean;
  /** Whether it is told what the others do. */
  readonly hearsPresence: boolean;
  readonly member: Member;
  role: Role;
}

/** What a connection is told about its role. */
export interface Grant {
  readonly role: Role;
  /** Why it is observer although it asked for controller. */
  readonly downgraded?: string;
}

export class Roster {
  readonly #limits: RosterLimits;
  /** In the order of joining. */
  readonly #attached = new Map<string, Attached>();
  #everJoined = false;

  constructor(limits: RosterLimits) {
    this.#limits = limits;
  }

  /** Members of the session's former life. */
  restore(members: readonly Attached[]): void {
    this.#everJoined = true;
    for (const member of members) this.#attached.set(member.clientId, member);
  }

  get(clientId: string): Attached | undefined {
    return this.#attached.get(clientId);
  }

  all(): Attached[] {
    return [...this.#attached.values()];
  }

  isController(clientId: string): boolean {
    return this.#attached.get(clientId)?.role === 'controller';
  }

  count(role: Role): number {
    return this.all().filter((a) => a.role === role).length;
  }

  /** Whether one more could have control. */
  get isControlFree(): boolean {
    return this.count('controller') < this.#limits.maxControllers;
  }

  /** Decides the role and lets the member in; RATE_LIMITED when there is no place (protocol R8, R9). */
  join(clientId: string, request: JoinRequest, member: Member): Grant {
    const grant = this.#grant(this.#wanted(request), request.mayControl);
    if (grant.role === 'observer' && this.count('observer') >= this.#limits.maxObservers) {
      throw new Fault('RATE_LIMITED', `this session has its ${this.#limits.maxObservers} observers; try again later`);
    }
    this.#everJoined = true;
    const { label, principal, mayControl, hearsPresence = false } = request;
    this.#attached.set(clientId, { clientId, label, principal, mayControl, hearsPresence, member, role: grant.role });
    return grant;
  }

  leave(clientId: string): Attached | undefined {
    const gone = this.#attached.get(clientId);
    this.#attached.delete(clientId);
    return gone;
  }

  /** A member asks for another role (pty-ext §5.2). `changed` tells whether the membership is another one now. */
  request(clientId: string, role: Role): Grant & { readonly changed: boolean } {
    const asking = this.#attached.get(clientId);
    if (!asking) throw new Fault('PERMISSION_DENIED', 'join the session first');
    if (role === 'controller' && !asking.mayControl)
      throw new Fault('PERMISSION_DENIED', 'the role controller needs the scope pty:control');
    if (asking.role === role) return { role, changed: false };
    if (role === 'observer') this.#refuseFullObservers();
    const grant = this.#grant(role, asking.mayControl);
    const changed = grant.role !== asking.role;
    asking.role = grant.role;
    return { ...grant, changed };
  }

  /** Gives control to this member alone, or to nobody. Returns whose role has changed. */
  moveControl(clientId: string | null): Attached[] {
    const target = clientId === null ? undefined : this.#attached.get(clientId);
    if (clientId !== null && !target)
      throw new Fault('INVALID_REQUEST', `no member ${clientId} is attached to this session`, { status: 404 });
    if (target && !target.mayControl) throw new Fault('PERMISSION_DENIED', `${clientId} has not the scope pty:control`);
    const changed = this.all().filter((a) => (a.role === 'controller') !== (a === target));
    const observers = this.#attached.size - (target ? 1 : 0);
    if (observers > this.#limits.maxObservers) {
      throw new Fault('RATE_LIMITED', `the session would have ${observers} observers, more than its ${this.#limits.maxObservers}`, {
        status: 409,
      });
    }
    for (const a of changed) a.role = a === target ? 'controller' : 'observer';
    return changed;
  }

  /** A controller and an observer change places. Returns both. */
  passControl(from: string, to: string): Attached[] {
    const [giving, taking] = [this.#attached.get(from), this.#attached.get(to)];
    if (giving?.role !== 'controller' || taking?.role !== 'observer' || !taking.mayControl)
      throw new Fault('PERMISSION_DENIED', 'control passes from a controller to an observer with pty:control');
    giving.role = 'observer';
    taking.role = 'controller';
    return [giving, taking];
  }

  members(): Pick<MembershipChanged, 'controllers' | 'observers'> {
    const refs = (role: Role): MemberRef[] =>
      this.all()
        .filter((a) => a.role === role)
        .map(({ clientId, label }) => (label === undefined ? { client_id: clientId } : { client_id: clientId, label }));
    return { controllers: refs('controller'), observers: refs('observer') };
  }

  #wanted(request: JoinRequest): Role {
    const isFirst = !this.#everJoined;
    return isFirst && request.mayControl && this.#limits.firstRole ? this.#limits.firstRole : request.role;
  }

  #grant(wanted: Role, mayControl: boolean): Grant {
    if (wanted === 'observer') return { role: 'observer' };
    if (!mayControl) return { role: 'observer', downgraded: 'the scope pty:control is missing' };
    if (!this.isControlFree) return { role: 'observer', downgraded: 'the session has all the controllers that it may have' };
    return { role: 'controller' };
  }

  #refuseFullObservers(): void {
    if (this.count('observer') >= this.#limits.maxObservers)
      throw new Fault('RATE_LIMITED', 'all places for observers are taken; leave instead');
  }
}

/** The frame that tells a member its role (pty-ext §7.3). */
export function roleAssigned(grant: Grant, clientId: string): Unnumbered {
  const downgrade = grant.downgraded === undefined ? {} : { downgraded: true as const, reason: grant.downgraded };
  return entry('RoleAssigned', { role: grant.role, client_id: clientId, ...downgrade });
}

/** Those who are connected to other replicas: they outlive this one. */
export function keptMembers(all: readonly Attached[]): KeptMember[] {
  return all.flatMap(({ clientId, label, principal, mayControl, hearsPresence, role, member: { home } }) =>
    home ? [{ clientId, principal, mayControl, hearsPresence, role, home, ...(label === undefined ? {} : { label }) }] : [],
  );
}
