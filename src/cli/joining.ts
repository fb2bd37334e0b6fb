// A session that a command joins for a while, beside whoever is there. Knows no terminal.
import { hostname, userInfo } from 'node:os';
import { type ClientOptions, connect, type Ended, type TerminalClient } from '../client/node.js';
import { HOW_TO_GET_A_TOKEN } from './address.js';
import { CommandError } from './failure.js';
import type { NamedSession } from './named-session.js';

/** Longest label, in characters (pty-ext §6.1). */
export const MAX_LABEL_CHARS = 128;

/** How the others see this command, unless it is said: user@host, as far as they are known. */
export function defaultLabel(): string {
  try {
    return `${userInfo().username}@${hostname()}`.slice(0, MAX_LABEL_CHARS);
  } catch {
    return hostname().slice(0, MAX_LABEL_CHARS);
  }
}

export type Joining = Pick<ClientOptions, 'role' | 'size' | 'replayFrom' | 'reconnect' | 'presence'> & { readonly label?: string };

/** The first attempt must succeed; after that it comes back as long as it is worth it, unless `reconnect` says otherwise. */
export function join({ attach, gateway }: NamedSession, options: Joining): TerminalClient {
  const { label = defaultLabel(), reconnect = { attemptsBeforeLive: 1 }, ...rest } = options;
  return connect({ url: attach, token: gateway.token, label, reconnect, ...rest });
}

/** Resolves when the session's screen and past are there. Rejects with a CommandError if it never comes to that. */
export async function live(client: TerminalClient): Promise<void> {
  if (client.state.name === 'live') return;
  const ended = await new Promise<Ended | undefined>((resolve) => {
    client.on('state', (state) => {
      if (state.name === 'live') resolve(undefined);
      if (state.name === 'ended') resolve(state);
    });
  });
  if (ended) throw endOf(ended);
}

/** What the end of a client means to a person, and what to do about it. */
export function endInWords({ reason, message }: Ended): string {
  switch (reason) {
    case 'session_closed':
      return 'the session has ended';
    case 'unauthenticated':
      return `the token is not taken: ${message}; ${HOW_TO_GET_A_TOKEN}`;
    case 'forbidden':
      return `this is not allowed: ${message}`;
    case 'gone':
      return `${message}; \`pty-gateway sessions\` lists those that there are`;
    case 'refused':
      return `the gateway does not take this: ${message}`;
    default:
      return message;
  }
}

const codes: Partial<Record<Ended['reason'], string>> = {
  session_closed: 'ENDED',
  unauthenticated: 'UNAUTHENTICATED',
  forbidden: 'PERMISSION_DENIED',
  gone: 'TASK_NOT_FOUND',
  refused: 'INVALID_REQUEST',
  unreachable: 'UNREACHABLE',
};

export const endOf = (ended: Ended): CommandError => new CommandError(endInWords(ended), { code: codes[ended.reason] ?? 'FAILED' });
