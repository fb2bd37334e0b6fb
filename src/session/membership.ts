// Who comes, goes and changes places, as the frames that tell of it (pty-ext §5, §6): one append for each change. Knows no terminal, no store and no end.
import type { Draft } from '../log/log.js';
import type { Frame, Role } from '../protocol/frames.js';
import { newId } from '../protocol/ids.js';
import { entry, type Unnumbered } from '../protocol/make-frames.js';
import type { Size } from '../terminal/terminal.js';
import { deliver } from './asides.js';
import type { LastController } from './last-controller.js';
import type { Presence } from './presence.js';
import { type Attached, type Grant, type Roster, roleAssigned } from './roster.js';
import type { Joined, JoinRequest, Member } from './session.js';

export interface MembershipParts {
  readonly roster: Roster;
  readonly presence: Presence;
  readonly lastController: LastController;
  append(drafts: readonly Draft[], taken?: (first: number) => void): Promise<number>;
  /** Waits for the log, but not for ever; `late` is called when it does not take what was appended. */
  logged<T>(logged: Promise<T>, late?: () => void): Promise<T>;
  /** With each change, when the roster has it. */
  changed(): void;
  /** The resize by which the first controller gives the session its size, if it does. */
  firstSize(size: Partial<Size> | undefined): Draft | undefined;
  /** Of the screen behind this number, for this member. */
  keyframe(sequence: number, clientId: string): Promise<Frame>;
  /** Number of the oldest frame that is kept. */
  oldest(): number;
}

export class Membership {
  readonly #parts: MembershipParts;

  constructor(parts: MembershipParts) {
    this.#parts = parts;
  }

  /** `late` is called when the log does not take it in time: who has asked is told to try again, and must leave. */
  async join(request: JoinRequest, member: Member, late: (clientId: string) => void): Promise<Joined> {
    const { roster, presence, append, logged, firstSize, keyframe, oldest } = this.#parts;
    const clientId = newId();
    const grant = roster.join(clientId, request, member);
    const role = roleAssigned(grant, clientId);
    const membership = this.told();
    const resize = grant.role === 'controller' ? firstSize(request.size) : undefined;
    const own = { to: clientId };
    const drafts = resize ? [own, membership, resize, own] : [own, membership, own];
    let joined: Joined | undefined;
    const appended = append(drafts, (first) => {
      const last = first + drafts.length - 1;
      joined = {
        clientId,
        role: grant.role,
        roleAssigned: { ...role, sequence: first },
        membership: { ...membership, sequence: first + 1 },
        keyframe: { sequence: last, frame: keyframe(last, clientId) },
        oldest: oldest(),
      };
    });
    await logged(appended, () => late(clientId));
    presence.greet(clientId);
    return joined as Joined;
  }

  /** One whom the roster has let go. Resolves with the number of the frame that tells of it. */
  async left(gone: Attached): Promise<number> {
    const { roster, presence, lastController } = this.#parts;
    const heirs = presence.heirs();
    if (gone.role === 'controller' && roster.count('controller') === 0) lastController.left();
    return (await this.#assign(heirs.map(asNow), true)) + heirs.length;
  }

  /** Granted, or told why not (pty-ext §6.5). */
  async request(clientId: string, role: Role): Promise<void> {
    const { roster, presence } = this.#parts;
    const grant = roster.request(clientId, role);
    const heirs = presence.heirs().map(asNow);
    await this.#assign([{ to: roster.get(clientId) as Attached, grant }, ...heirs], grant.changed);
  }

  /** These have another role in the roster now, and so may have those who asked for what is free. */
  async reassigned(changed: readonly Attached[]): Promise<void> {
    const grants = [...new Set([...changed, ...this.#parts.presence.heirs()])].map(asNow);
    if (grants.length > 0) await this.#assign(grants, true);
  }

  /** The frame that tells all who is here, to be appended at once. */
  told(): Unnumbered {
    const { roster, lastController, changed } = this.#parts;
    if (roster.count('controller') > 0) lastController.came();
    changed();
    return entry('MembershipChanged', roster.members());
  }

  /** Resolves with the number of the first frame that tells of it. */
  async #assign(grants: readonly Assignment[], changed: boolean): Promise<number> {
    const frames = grants.map(({ to, grant }) => roleAssigned(grant, to.clientId));
    const drafts = [...grants.map(({ to }) => ({ to: to.clientId })), ...(changed ? [this.told()] : [])];
    const appended = this.#parts.append(drafts, (first) => {
      for (const [i, { to }] of grants.entries()) deliver(to, { ...(frames[i] as Unnumbered), sequence: first + i });
    });
    if (changed) this.#parts.presence.rolesChanged();
    return this.#parts.logged(appended);
  }
}

interface Assignment {
  readonly to: Attached;
  readonly grant: Grant;
}

const asNow = (to: Attached): Assignment => ({ to, grant: { role: to.role } });
