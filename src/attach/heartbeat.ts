// Finds peers that are gone: one timer for all connections of the process (pty-ws §2.4). Knows no session.

/** What the heartbeat needs of a connection. */
export interface Peer {
  /** Sends a WebSocket Ping. */
  ping(): void;
  /** Ends the connection at once: the peer is silent. */
  reap(): void;
}

export interface HeartbeatTimes {
  readonly intervalSeconds: number;
  /** Silence after which a peer is taken for dead, also when its TCP window is full. */
  readonly timeoutSeconds: number;
}

export class Heartbeat {
  readonly #times: HeartbeatTimes;
  /** When each peer was last heard, in milliseconds of a clock that never goes back. */
  readonly #heard = new Map<Peer, number>();
  #timer: NodeJS.Timeout | undefined;

  constructor(times: HeartbeatTimes) {
    this.#times = times;
  }

  add(peer: Peer): void {
    this.#heard.set(peer, performance.now());
    this.#timer ??= setInterval(() => this.#beat(), this.#times.intervalSeconds * 1000).unref();
  }

  /** The peer gave a sign of life. */
  heard(peer: Peer): void {
    if (this.#heard.has(peer)) this.#heard.set(peer, performance.now());
  }

  remove(peer: Peer): void {
    this.#heard.delete(peer);
    if (this.#heard.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #beat(): void {
    const deadline = performance.now() - this.#times.timeoutSeconds * 1000;
    for (const [peer, heard] of this.#heard) {
      if (heard < deadline) peer.reap();
      else peer.ping();
    }
  }
}
