// Somebody at a session with the product's own client, who keeps all that is shown. Knows no gateway.
import { type ClientOptions, connect, type Fault, type Notice, type TerminalClient } from '../../src/client/node.js';
import type { Closed, PtyError } from '../../src/protocol/frames.js';
import { until } from './redis.js';

export class Onlooker {
  readonly client: TerminalClient;
  /** All output, in the order in which it came. */
  text = '';
  /** The numbers of the output. */
  readonly numbers: number[] = [];
  readonly states: string[] = [];
  readonly notices: Notice[] = [];
  readonly faults: Array<Fault | PtyError> = [];
  readonly closed: Closed[] = [];

  /** Comes back soon after every cut, and sees the session from its first frame unless told otherwise. */
  constructor(options: ClientOptions) {
    this.client = connect({ replayFrom: 0, reconnect: { firstMs: 50, maxMs: 500, attemptsBeforeLive: 100 }, ...options });
    this.client.on('output', (bytes, sequence) => this.#saw(bytes, sequence));
    this.client.on('state', ({ name }) => void this.states.push(name));
    this.client.on('notice', (notice) => void this.notices.push(notice));
    this.client.on('error', (fault) => void this.faults.push(fault));
    this.client.on('closed', (closed) => void this.closed.push(closed));
  }

  #saw(bytes: Uint8Array, sequence: number): void {
    this.text += Buffer.from(bytes).toString('latin1');
    this.numbers.push(sequence);
  }

  /** Resolves when it has been printed. */
  async sees(what: string): Promise<void> {
    await until(`${JSON.stringify(what)} is shown, not only ${JSON.stringify(this.text.slice(-200))}`, () => this.text.includes(what));
  }

  async isLive(): Promise<void> {
    await until('the client is live', () => this.client.state.name === 'live');
  }

  /** The numbers that `counting` printed, as they were shown. */
  counted(): number[] {
    return [...this.text.matchAll(/^n(\d+)\r?$/gm)].map(([, n]) => Number(n));
  }
}

/** A program that prints `n1` to `n<count>`, one a line, every `seconds`, and then waits. */
export const counting = (count: number, seconds: number): string[] => [
  '/bin/bash',
  '-c',
  `for ((i = 1; i <= ${count}; i++)); do echo n$i; sleep ${seconds}; done; read`,
];

/** What `counting` prints. */
export const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);
