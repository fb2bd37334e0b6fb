// Types what comes from a pipe or a file, no faster than the gateway reads it. Knows no terminal.
import type { TerminalClient } from '../client/node.js';
import { controlOf, holders } from './asking.js';

export interface TypingOptions {
  /** Whether control is asked for when others have it; else it is waited for. */
  readonly asks: boolean;
  /** Told why nothing is typed, and what may not have arrived. */
  tell(text: string): void;
}

/** Resolves at the end of the input, which may also be destroyed, or when control cannot be had, with the bytes that were typed; the session goes on. */
export async function typeAll(input: AsyncIterable<Uint8Array>, client: TerminalClient, options: TypingOptions): Promise<number> {
  let typed = 0;
  try {
    for await (const bytes of input) {
      await type(bytes, client, options);
      typed += bytes.length;
    }
  } catch (error) {
    if (client.state.name !== 'ended') options.tell(`no more can be typed: ${(error as Error).message}`);
  }
  return typed;
}

async function type(bytes: Uint8Array, client: TerminalClient, { asks, tell }: TypingOptions): Promise<void> {
  await (asks ? asked(client, tell) : control(client));
  await client.type(bytes).catch(({ message }: Error) => {
    if (client.state.name !== 'ended') tell(`the last ${bytes.length} bytes may not have arrived: ${message}`);
  });
}

function asked(client: TerminalClient, tell: (text: string) => void): Promise<void> {
  return controlOf(client, {
    asked: () => tell(`${holders(client)} is asked for control; what is piped in is typed when you have it`),
    declined: () => tell(`${holders(client)} declined; what is piped in is typed when nobody has control`),
  });
}

/** Resolves when this client may type. */
async function control(client: TerminalClient): Promise<void> {
  if (client.role === 'controller') return;
  await new Promise<void>((resolve) => {
    const stop = client.on('role', ({ role }) => {
      if (role !== 'controller') return;
      stop();
      resolve();
    });
  });
}
