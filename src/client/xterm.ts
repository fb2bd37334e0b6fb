// Attaches an xterm.js terminal to a session: `terminal.loadAddon(new SessionAddon(client))`. Knows no connection.
import type { ITerminalAddon, Terminal } from '@xterm/xterm';
import type { TerminalClient } from './client.js';
import type { ScreenFrame } from './frames.js';
import { avoidHazards } from './xterm-hazards.js';

/**
 * Shows the session at its own size, and types what is typed where this client has control. A terminal that is slower than the session is given a
 * Keyframe instead of what it cannot keep up with. Both go on without each other: the application closes the client, and disposes of the terminal.
 */
export class SessionAddon implements ITerminalAddon {
  readonly #client: TerminalClient;
  readonly #over = new AbortController();

  constructor(client: TerminalClient) {
    this.#client = client;
  }

  activate(terminal: Terminal): void {
    const { signal } = this.#over;
    avoidHazards(terminal);
    const typing = [
      terminal.onData((text) => this.#client.input(text)),
      terminal.onBinary((text) => this.#client.input(Uint8Array.from(text, (char) => char.charCodeAt(0)))),
    ];
    signal.addEventListener('abort', () => typing.forEach((each) => void each.dispose()));
    void this.#show(terminal, signal).catch((error) => {
      if (!signal.aborted) throw error;
    });
  }

  dispose(): void {
    this.#over.abort();
  }

  async #show(terminal: Terminal, signal: AbortSignal): Promise<void> {
    for await (const frame of this.#client.frames({ signal })) {
      if (frame.kind === 'resize' || frame.kind === 'keyframe') terminal.resize(frame.cols, frame.rows);
      const bytes = bytesOf(frame);
      if (bytes) await new Promise<void>((written) => terminal.write(bytes, written));
    }
  }
}

function bytesOf(frame: ScreenFrame): Uint8Array | undefined {
  if (frame.kind === 'output') return frame.bytes;
  return frame.kind === 'keyframe' && !frame.afterReplay ? frame.snapshot : undefined;
}
