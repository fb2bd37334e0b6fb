// What a connection is sent of the past: kept frames again, as text, at the pace of its socket (pty-ext §8). Knows no live frame.
import { asFault, type Fault } from '../errors.js';
import type { LogReader } from '../log/log.js';
import type { Meter } from '../metrics/meter.js';
import type { Frame } from '../protocol/frames.js';
import type { Joined } from '../session/session.js';
import type { Outlet } from './outlet.js';
import { outOfRange, replay } from './replay.js';

type Wish = (frame: Frame) => boolean;

export const isUpdate: Wish = (frame) => frame.kind === 'TaskStatusUpdate';
/** The Closed of a session is the last that a connection is sent, wherever it stands in the log (protocol R10). */
const isNotClosed: Wish = (frame) => frame.kind !== 'Closed';

export class Past {
  readonly #reader: LogReader;
  readonly #outlet: Outlet;
  readonly #encode: (frame: Frame) => Uint8Array;
  readonly #meter: Meter;

  constructor(reader: LogReader, outlet: Outlet, encode: (frame: Frame) => Uint8Array, meter: Meter) {
    this.#reader = reader;
    this.#outlet = outlet;
    this.#encode = encode;
    this.#meter = meter;
  }

  /** All that a join asks for again; when that is not kept, the Error that says so (protocol R2), which is returned. */
  async replayForJoin({ roleAssigned, oldest }: Joined, replayFrom: number, requestId: string): Promise<Fault | undefined> {
    const before = roleAssigned.sequence;
    try {
      await this.#counted(async () => {
        if (replayFrom >= before || replayFrom < oldest - 1) throw outOfRange(replayFrom, oldest);
        await this.#send(replayFrom, before, isNotClosed);
      });
      return undefined;
    } catch (error) {
      const fault = asFault(error);
      this.#outlet.error(fault, requestId);
      return fault;
    }
  }

  /** TaskStatusUpdates after `replayFrom`, up to and with `upTo`. Rejects with REPLAY_OUT_OF_RANGE. */
  async replayUpdates(replayFrom: number, upTo: number): Promise<void> {
    const { oldest, current } = this.#reader.extent();
    await this.#counted(async () => {
      if (replayFrom > current || replayFrom < oldest - 1) throw outOfRange(replayFrom, oldest);
      await this.#send(replayFrom, upTo + 1, isUpdate);
    });
  }

  /** What a connection that is behind `upTo` has missed: true; or the Error that says that it is gone. */
  async catchUp(place: number, upTo: number, { updatesOnly }: { readonly updatesOnly: boolean }): Promise<boolean> {
    try {
      await this.#send(place, upTo + 1, updatesOnly ? isUpdate : isNotClosed);
      return true;
    } catch (error) {
      this.#outlet.error(asFault(error));
      return false;
    }
  }

  async #counted(replaying: () => Promise<void>): Promise<void> {
    try {
      await replaying();
      this.#meter.count('replays_total', 1, { outcome: 'served' });
    } catch (error) {
      this.#meter.count('replays_total', 1, { outcome: asFault(error).code === 'REPLAY_OUT_OF_RANGE' ? 'out_of_range' : 'failed' });
      throw error;
    }
  }

  async #send(after: number, before: number, wants: Wish): Promise<void> {
    for await (const piece of replay(this.#reader, after, before)) {
      const shown = piece.filter((frame) => wants(frame) && !this.#outlet.codec.leavesOut(frame));
      await this.#outlet.each(shown, this.#encode);
      if (!this.#outlet.isOpen) return;
    }
  }
}
