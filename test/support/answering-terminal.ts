// A terminal at a session that answers what programs ask, as every plain embedder of xterm does. Knows no gateway.
import headless from '@xterm/headless';
import { type ClientOptions, connect, type TerminalClient } from '../../src/client/node.js';
import { until } from './redis.js';

export class AnsweringTerminal {
  readonly client: TerminalClient;
  /** All that it sent by itself, joined. */
  answered = '';
  readonly #terminal = new headless.Terminal({ cols: 80, rows: 24, scrollback: 0, allowProposedApi: true, logLevel: 'off' });

  /** Controls, and answers what it is shown of the past as well. */
  constructor(options: ClientOptions) {
    this.client = connect({ role: 'controller', replayFrom: 0, reconnect: { firstMs: 20, maxMs: 100 }, ...options });
    this.client.on('output', (bytes) => this.#terminal.write(bytes));
    this.client.on('keyframe', ({ snapshot }) => this.#terminal.write(snapshot));
    this.#terminal.onData((text) => {
      this.answered += text;
      this.client.input(Buffer.from(text));
    });
  }

  async controls(): Promise<void> {
    await until('it has control', () => this.client.state.name === 'live' && this.client.role === 'controller');
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
