// Types what comes from a pipe or a file, no faster than the gateway reads it. Knows no terminal.
import type { TerminalClient } from '../client/node.js';

/** Resolves at the end of the input, which may also be destroyed, with the bytes that were typed; the session goes on. `warn` is told of what may not have arrived. */
export async function typeAll(input: AsyncIterable<Uint8Array>, client: TerminalClient, warn: (text: string) => void): Promise<number> {
  let typed = 0;
  try {
    for await (const bytes of input) {
      await type(bytes, client, warn);
      typed += bytes.length;
    }
  } catch (error) {
    if (client.state.name !== 'ended') warn(`no more can be read to type: ${(error as Error).message}`);
  }
  return typed;
}

async function type(bytes: Uint8Array, client: TerminalClient, warn: (text: string) => void): Promise<void> {
  await control(client);
  await client.type(bytes).catch(({ message }: Error) => {
    if (client.state.name !== 'ended') warn(`the last ${bytes.length} bytes may not have arrived: ${message}`);
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
