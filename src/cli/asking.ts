// Control that others may have: asked for as on the page, and taken when nobody has it. Knows no command and nothing of what is typed.
import { Fault, type PresenceState, type TerminalClient } from '../client/node.js';
import { CommandError } from './failure.js';
import { endOf } from './joining.js';
import { harmless } from './table.js';

/** What a person may want to know of the asking. */
export interface Answers {
  /** Those who have control are asked for it, after a reconnect again. */
  asked?(): void;
  /** They said no; from then on it is taken when nobody has it. */
  declined(): void;
}

/** Who has control, in words; empty if nobody has. */
export const holders = ({ members }: TerminalClient): string =>
  members.controllers.map(({ label, client_id }) => harmless(label ?? client_id)).join(', ');

/**
 * Resolves when this client, which joined with `presence`, has control; at once if it has. The session gives it to who asked first, when it is granted or free.
 * Whoever was declined, or is at a gateway that knows no asking, takes it when nobody has it. Rejects with a CommandError: PERMISSION_DENIED where the token
 * does not allow control, or what the client ended with.
 */
export async function controlOf(client: TerminalClient, answers: Answers): Promise<void> {
  if (client.role === 'controller') return;
  const undo: Array<() => void> = [];
  const given = new Promise<void>((resolve, reject) => {
    const look = seeking(client, answers, reject);
    undo.push(client.on('role', ({ role }) => role === 'controller' && resolve()));
    undo.push(client.on('members', look), client.on('presence', refusals(client, answers)));
    look();
    void client.ended.then((ended) => reject(endOf(ended)));
  });
  await given.finally(() => {
    for (const each of undo) each();
  });
}

/** To be called when members have changed: asks once on each connection, and takes what nobody has. */
function seeking(client: TerminalClient, answers: Answers, reject: (error: CommandError) => void): () => void {
  let askedAs: string | undefined;
  const failed = (error: unknown) => client.role === 'observer' && isForbidden(error) && reject(forbidden(error));
  return () => {
    if (client.role !== 'observer') return;
    const isFree = client.members.controllers.length === 0;
    if (askedAs !== client.clientId) {
      askedAs = client.clientId;
      client.act('ask').then(() => isFree || answers.asked?.(), failed);
    }
    if (isFree) client.requestRole('controller').catch(failed);
  };
}

/** Whoever asked, asks no longer, and still only watches, was declined. */
function refusals(client: TerminalClient, { declined }: Answers): (state: PresenceState) => void {
  let askedAs: string | undefined;
  return ({ asking }) => {
    const { clientId } = client;
    const before = askedAs;
    askedAs = asking.find((id) => id === clientId);
    // What was granted is told as a role right after this.
    if (before && askedAs === undefined) setImmediate(() => client.role === 'observer' && client.clientId === before && declined());
  };
}

const isForbidden = (error: unknown): error is Fault => error instanceof Fault && error.code === 'PERMISSION_DENIED';
const forbidden = ({ message }: Fault) => new CommandError(message, { code: 'PERMISSION_DENIED' });
