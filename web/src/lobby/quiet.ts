// Since when sessions print nothing, as far as this page has seen. Knows no view and no gateway.
import type { SessionDescription } from '../../../src/session/session.js';

interface Seen {
  readonly sequence: number;
  readonly since: number;
}

export class Quiet {
  #seen = new Map<string, Seen>();

  /** At every look, with all sessions that there are. */
  look(sessions: readonly SessionDescription[], now = Date.now()): void {
    const seen = (session: SessionDescription): Seen => {
      const before = this.#seen.get(session.session_id);
      return before?.sequence === session.current_sequence ? before : { sequence: session.current_sequence, since: now };
    };
    this.#seen = new Map(sessions.map((session) => [session.session_id, seen(session)]));
  }

  /** In milliseconds since the epoch; undefined for one that was not seen. */
  since(sessionId: string): number | undefined {
    return this.#seen.get(sessionId)?.since;
  }
}
