// Sessions and those who watch them, begun anew whenever one is over. Knows no replica: only the balancer's port.
import { setTimeout as later } from 'node:timers/promises';
import { gate } from '../../src/session/bounded.js';
import { tokenFor } from '../../test/support/gateways.js';
import { Agreed, Witness } from './witness.js';

/** Milliseconds that a request may take. */
const ANSWER_MS = 15_000;
/** Milliseconds until a request that failed is made again. */
const AGAIN_MS = 250;
/** Milliseconds in which all who watch a session must have its end once one has, and one must have it once the programs were told to end. */
const END_MS = 180_000;

/** One session after another of an instance, each watched by so many from its first frame. */
export interface Place {
  readonly port: number;
  readonly instance: string;
  readonly watchers: number;
  /** Milliseconds without output that are told. */
  readonly silenceMs: number;
}

/** A session that is over, and those who watched it; the last came when it was over. */
export interface Sat {
  readonly sessionId: string;
  readonly agreed: Agreed;
  readonly witnesses: readonly Witness[];
  /** What was not as it must be, in words. */
  readonly complaints: readonly string[];
}

export class Sitting {
  readonly #place: Place;
  readonly #done: (sat: Sat) => void;
  #witnesses: readonly Witness[] = [];
  readonly #late = gate();
  #isLast = false;

  /** `done` is told each session that is over. */
  constructor(place: Place, done: (sat: Sat) => void) {
    this.#place = place;
    this.#done = done;
  }

  get witnesses(): readonly Witness[] {
    return this.#witnesses;
  }

  /** No session is begun from now on, and the one that runs is to end. */
  last(): void {
    this.#isLast = true;
    setTimeout(() => this.#late.open(), END_MS).unref();
  }

  /** Resolves when the last session is over. */
  async run(): Promise<void> {
    while (!this.#isLast) {
      const sessionId = await this.#begin();
      if (sessionId !== undefined) this.#done(await this.#sit(sessionId));
    }
  }

  /** Undefined if it is too late to begin. */
  async #begin(): Promise<string | undefined> {
    const { port, instance } = this.#place;
    const headers = { authorization: `Bearer ${tokenFor('operator', 'pty:control')}`, 'content-type': 'application/json' };
    const url = `http://127.0.0.1:${port}/agents/${instance}/sessions`;
    while (!this.#isLast) {
      const asked = fetch(url, { method: 'POST', headers, body: '{}', signal: AbortSignal.timeout(ANSWER_MS) });
      const answer = await asked.catch(() => undefined);
      if (answer?.status === 201) return ((await answer.json()) as { session_id: string }).session_id;
      await answer?.body?.cancel();
      await later(AGAIN_MS);
    }
    return undefined;
  }

  async #sit(sessionId: string): Promise<Sat> {
    const { port, instance, watchers, silenceMs } = this.#place;
    const agreed = new Agreed();
    const token = tokenFor('watcher', 'pty:observe');
    const url = `ws://127.0.0.1:${port}/agents/${instance}/sessions/${sessionId}/attach`;
    const look = () => new Witness(url, token, agreed, silenceMs);
    this.#witnesses = Array.from({ length: watchers }, look);
    await Promise.race([anyOver(this.#witnesses), this.#late.promise]);
    const all = [...this.#witnesses, look()];
    const late = later(END_MS, undefined, { ref: false });
    await Promise.race([Promise.all(all.map(({ ended }) => ended)), late]);
    const complaints = all.flatMap(complaintsOf).map((words) => `${sessionId} of ${instance}: ${words}`);
    for (const witness of all) {
      witness.stop();
      witness.countLost();
    }
    this.#witnesses = [];
    return { sessionId, agreed, witnesses: all, complaints };
  }
}

/** Resolves when one of them has the session's end, or none will. */
async function anyOver(witnesses: readonly Witness[]): Promise<void> {
  const isOver = async ({ ended }: Witness) => {
    if ((await ended).reason !== 'session_closed') throw new Error('not over');
  };
  await Promise.any(witnesses.map(isOver)).catch(() => {});
}

function complaintsOf({ state, closed, complaints }: Witness): string[] {
  const isOver = state.name !== 'live' && closed === 1;
  return isOver ? [...complaints] : [...complaints, `at its end a client is ${state.name}, and was told ${closed} times that it is closed`];
}
