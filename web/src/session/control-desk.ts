// Takes, gives and moves control for one window, and shows who has it. Knows no terminal.

import { may, type Principal } from '../../../src/access/principal.js';
import type { Assigned, Members, PresenceState, TerminalClient } from '../../../src/client/index.js';
import type { Role } from '../../../src/protocol/frames.js';
import { CallError, type Gateway } from '../shared/gateway.js';
import type { Place } from '../shared/place.js';
import { failureText } from '../shared/words.js';
import type { Asks } from './asks.js';
import { answerOf, newsOf, numbersOf, offerOf, type Person, peopleIn, type Standing, whyDeaf } from './control.js';
import type { SessionBar } from './session-bar.js';

/** Earlier connections of this window that are remembered. */
const MAX_FORMER = 16;
/** Milliseconds after which one of whom nothing is told types no more: twice as long as it takes to be told again. */
const TYPING_MS = 2000;

export interface ControlDeskParts {
  readonly bar: SessionBar;
  readonly asks: Asks;
  readonly gateway: Gateway;
  readonly principal: Principal;
  readonly place: Place;
  client(): TerminalClient | undefined;
  tell(text: string): void;
}

export class ControlDesk {
  readonly #parts: ControlDeskParts;
  #standing: Standing = {
    members: { controllers: [], observers: [] },
    self: undefined,
    former: [],
    maxControllers: 1,
    presence: { asking: [] },
    numbers: new Map(),
  };
  #role: Role | undefined;
  #running = false;
  /** This connection has just joined, and nothing was told of its session yet. */
  #fresh = true;
  /** Control was asked for, and not given. */
  #downgraded = false;
  /** This window asks no more, by its own will. */
  #withdrawn = false;
  #typing: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: ControlDeskParts) {
    this.#parts = parts;
  }

  get role(): Role | undefined {
    return this.#role;
  }

  allow(maxControllers: number): void {
    this.#standing = { ...this.#standing, maxControllers };
    this.#show();
  }

  /** `running`: there is a connection, and the session has not ended. */
  run(running: boolean): void {
    this.#running = running;
    this.#show();
  }

  assigned({ role, clientId, downgraded }: Assigned): void {
    const { self, former } = this.#standing;
    this.#role = role;
    this.#downgraded = downgraded;
    if (clientId !== self) this.#joined(clientId, self === undefined ? former : [...former, self].slice(-MAX_FORMER));
    else if (downgraded) this.#parts.tell(this.whyDeaf());
    this.#show();
  }

  members(members: Members): void {
    const before = this.#standing;
    this.#standing = { ...before, members, numbers: numbersOf(members, before.self, before.numbers) };
    const news = this.#fresh ? this.#downgraded && this.whyDeaf() : newsOf(before, this.#standing);
    if (news) this.#parts.tell(news);
    if (this.#fresh) this.#takeFromFormer();
    this.#fresh = false;
    this.#show();
  }

  /** What the others do, as it is told. */
  presence(presence: PresenceState): void {
    const before = this.#standing;
    this.#standing = { ...before, presence };
    const answer = this.#withdrawn ? undefined : answerOf(before, this.#standing);
    if (answer) this.#parts.tell(answer);
    this.#withdrawn = false;
    clearTimeout(this.#typing);
    if (presence.typing !== undefined || presence.message_from !== undefined)
      this.#typing = setTimeout(() => this.#stopTyping(), TYPING_MS);
    this.#show();
  }

  dispose(): void {
    clearTimeout(this.#typing);
  }

  whyDeaf(): string {
    return whyDeaf(this.#standing, this.#parts.principal);
  }

  async switchRole(): Promise<void> {
    const { client, principal } = this.#parts;
    const offer = this.#role && offerOf(this.#standing, this.#role, principal);
    if (offer?.act === 'give up') await this.#try(client()?.requestRole('observer'));
    else if (offer?.act === 'take') await this.#try(client()?.requestRole('controller'));
    else if (offer?.act === 'ask') await this.#try(client()?.act('ask'));
    else if (offer?.act === 'withdraw') await this.#withdraw();
    else if (offer?.act === 'take back') await this.#try(client()?.act('take_back'));
    else if (offer?.act === 'take over' && confirm(`Take control? ${offer.hint}, and will only watch then.`))
      await this.#moveTo(this.#standing.self);
  }

  async grant({ clientId }: Person): Promise<void> {
    await this.#try(this.#parts.client()?.act('grant', clientId));
  }

  async decline({ clientId }: Person): Promise<void> {
    await this.#try(this.#parts.client()?.act('decline', clientId));
  }

  async handOver({ clientId, name }: Person): Promise<void> {
    await this.#moveTo(clientId, `${name} can only watch: their token does not let them type.`);
  }

  async remove({ clientId, name }: Person): Promise<void> {
    const { gateway, place } = this.#parts;
    if (confirm(`Send ${name} away from this session?`)) await this.#try(gateway.remove(place.instanceId, place.sessionId, clientId));
  }

  #joined(self: string, former: readonly string[]): void {
    this.#standing = { ...this.#standing, self, former };
    this.#fresh = true;
  }

  /** After a cut, the gateway may take this window's dead connection for a controller: with pty:admin one need not wait until it does not. */
  #takeFromFormer(): void {
    const { members, former, self } = this.#standing;
    const mineAlone = members.controllers.length > 0 && members.controllers.every(({ client_id }) => former.includes(client_id));
    if (this.#downgraded && mineAlone && may(this.#parts.principal, 'pty:admin')) void this.#moveTo(self);
  }

  async #withdraw(): Promise<void> {
    this.#withdrawn = true;
    await this.#try(this.#parts.client()?.act('withdraw'));
  }

  /** It is told again as long as somebody types. */
  #stopTyping(): void {
    const { typing: _, message_from: __, ...rest } = this.#standing.presence;
    this.#standing = { ...this.#standing, presence: rest };
    this.#show();
  }

  async #moveTo(clientId: string | undefined, forbidden?: string): Promise<void> {
    const { gateway, place } = this.#parts;
    if (clientId !== undefined) await this.#try(gateway.moveControl(place.instanceId, place.sessionId, clientId), forbidden);
  }

  #show(): void {
    const { bar, principal } = this.#parts;
    bar.control(this.#running && this.#role ? offerOf(this.#standing, this.#role, principal) : undefined);
    const people = peopleIn(this.#standing);
    bar.people.show(people);
    this.#parts.asks.show(this.#running && this.#role === 'controller' ? people.filter((person) => person.asks) : []);
  }

  /** Says so when it fails; `forbidden` is what a 403 means here. */
  async #try(attempt: Promise<unknown> | undefined, forbidden?: string): Promise<void> {
    try {
      await attempt;
    } catch (error) {
      const { status } = error instanceof CallError ? error : { status: undefined };
      const known = status === 404 ? 'They have left already.' : status === 403 ? forbidden : undefined;
      this.#parts.tell(known ?? failureText(error));
    }
  }
}
