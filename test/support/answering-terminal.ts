// A terminal at a session that answers what programs ask, as every plain embedder of xterm does. Knows no gateway.
import headless from '@xterm/headless';
import { type ClientOptions, connect, type TerminalClient } from '../../src/client/node.js';
import type { Role } from '../../src/protocol/frames.js';
import { until } from './redis.js';

export class AnsweringTerminal {
  readonly client: TerminalClient;
  /** All that it sent by itself, joined. */
  answered = '';
  /** What a slow terminal has still to send. */
  #kept: string[] | undefined;
  readonly #terminal = new headless.Terminal({ cols: 80, rows: 24, scrollback: 0, allowProposedApi: true, logLevel: 'off' });

  /** Controls, unless told otherwise, and answers what it is shown of the past as well; a slow one when it is told to. */
  constructor({ isSlow = false, ...options }: ClientOptions & { isSlow?: boolean }) {
    if (isSlow) this.#kept = [];
    this.client = connect({ role: 'controller', replayFrom: 0, reconnect: { firstMs: 20, maxMs: 100 }, ...options });
    this.client.on('output', (bytes) => this.#terminal.write(bytes));
    this.client.on('keyframe', ({ snapshot }) => this.#terminal.write(snapshot));
    this.#terminal.onData((text) => {
      this.answered += text;
      if (this.#kept) this.#kept.push(text);
      else this.type(text);
    });
  }

  async controls(): Promise<void> {
    await this.is('controller');
  }

  async is(role: Role): Promise<void> {
    await until(`it is ${role}`, () => this.client.state.name === 'live' && this.client.role === role);
  }

  /** A slow terminal sends what it kept, and is slow no more. */
  catchUp(): void {
    for (const text of this.#kept ?? []) this.type(text);
    this.#kept = undefined;
  }

  async hasAnswered(what: RegExp): Promise<void> {
    await until(`${what} was answered, not only ${JSON.stringify(this.answered)}`, () => what.test(this.answered));
  }

  type(text: string): void {
    this.client.input(Buffer.from(text));
  }

  close(): void {
    this.client.close();
    this.#terminal.dispose();
  }
}
