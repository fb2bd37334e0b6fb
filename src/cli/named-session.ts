// The session that a person names: by its address, id, the beginning of its id, or its label. Knows no command.
import { isId } from '../protocol/ids.js';
import { defaultGateway, gatewayAddress, sessionAddress, tokenFrom } from './address.js';
import { CommandError } from './failure.js';
import { type Gateway, type GatewayOptions, gatewayOf } from './gateway.js';
import { askJson, Refused } from './http.js';
import { instancesOf, type ListedSession, sessionPath, sessionsAt } from './listing.js';

/** How a session can be named, for the help of commands. */
export const HOW_TO_NAME = 'its label, its id or the beginning of it, or its address';
const LISTED = '`pty-gateway sessions --all` lists those that there are';

export interface NamedSession {
  readonly gateway: Gateway;
  readonly instanceId: string;
  readonly id: string;
  /** Below the gateway's base. */
  readonly path: string;
  /** Where to attach, at the address by which the gateway was asked. */
  readonly attach: string;
}

/**
 * Throws a CommandError where no session has that name, or several have. One that runs is meant before those that have ended, and a label before an id.
 * An address is believed; whether there is such a session shows when it is asked for.
 */
export async function namedSession(name: string, options: GatewayOptions): Promise<NamedSession> {
  if (/^(https?|wss?):\/\//.test(name)) return atAddress(name, options);
  const gateway = gatewayOf(options);
  if (isId(name)) return at(gateway, await instanceWith(gateway, name), name);
  const found = theOne(name, await sessionsAt(gateway));
  return at(gateway, found.instance_id, found.session_id);
}

/** What PTY_GATEWAY_URL or --url holds of a token is for that gateway alone. */
function atAddress(url: string, options: GatewayOptions): NamedSession {
  const address = sessionAddress(url);
  const [, socket = '', instance = '', id = ''] = /^(.*)\/agents\/([^/]+)\/sessions\/([^/]+)\/attach$/.exec(address.attach) ?? [];
  const base = socket.replace(/^ws/, 'http');
  const usual = gatewayAddress(options.url ?? defaultGateway(process.env));
  const token = address.token ?? (usual.base === base ? usual.token : undefined);
  return at({ base, token: tokenFrom(options.token, { token }) }, decodeURIComponent(instance), id);
}

function at(gateway: Gateway, instanceId: string, id: string): NamedSession {
  const path = sessionPath(instanceId, id);
  return { gateway, instanceId, id, path, attach: `${gateway.base.replace(/^http/, 'ws')}${path}/attach` };
}

async function instanceWith(gateway: Gateway, sessionId: string): Promise<string> {
  for (const instance of await instancesOf(gateway)) {
    try {
      await askJson(gateway, sessionPath(instance, sessionId));
      return instance;
    } catch (error) {
      if (!(error instanceof Refused && error.status === 404)) throw error;
    }
  }
  throw none(sessionId);
}

function theOne(name: string, sessions: readonly ListedSession[]): ListedSession {
  const labelled = sessions.filter(({ label }) => label === name);
  const found = labelled.length > 0 ? labelled : sessions.filter(({ session_id }) => name !== '' && session_id.startsWith(name));
  const running = found.filter(({ state }) => state === 'running');
  const [first, second] = running.length > 0 ? running : found;
  if (!first) throw none(name);
  if (second) throw several(name, running.length > 0 ? running : found);
  return first;
}

const none = (name: string) =>
  new CommandError(`there is no session ${JSON.stringify(name)} that this token may see; ${LISTED}`, { code: 'TASK_NOT_FOUND' });

function several(name: string, found: readonly ListedSession[]): CommandError {
  const ids = found.map(({ session_id, instance_id }) => `\n  ${session_id} (${instance_id})`).join('');
  return new CommandError(`${found.length} sessions are meant by ${JSON.stringify(name)}; name one by its id:${ids}`, { code: 'USAGE' });
}
