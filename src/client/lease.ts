// Which role a client wants, and whether it may take back the control that a cut took from it. Knows no connection.
import type { Role } from '../protocol/frames.js';
import type { Assigned, Members } from './receiver.js';

export class Lease {
  /** What the next join asks for. */
  wanted: Role;
  /** The client id under which control was held when the connection was cut: the gateway may not know yet that it is gone. */
  #heldAs: string | undefined;

  constructor(wanted: Role) {
    this.wanted = wanted;
  }

  cut(last: Assigned | undefined): void {
    if (last?.role === 'controller') this.#heldAs = last.clientId;
  }

  /** A role that was not given by a join is what this client has been given or has asked for: it is what it wants from now on. */
  assigned({ role }: Assigned, joining: boolean): void {
    if (!joining) this.wanted = role;
    if (role === 'controller' || !joining) this.#heldAs = undefined;
  }

  /** True once the lost control is free again. If another has taken it, it is not claimed any more. */
  mayTakeBack({ controllers }: Members): boolean {
    if (this.#heldAs === undefined) return false;
    if (controllers.some(({ client_id }) => client_id !== this.#heldAs)) this.#heldAs = undefined;
    return this.#heldAs !== undefined && controllers.length === 0;
  }
}
