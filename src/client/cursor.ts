// Which frames are applied to the screen, and where the next connection goes on. Knows numbers alone: no socket and no payload.
//
// The rules, each with its reason:
// - A gap in the numbers is no loss: frames for other connections take numbers too (protocol R3).
// - RoleAssigned and the MembershipChanged of a join come before the replay but are numbered after it, so they do not move the cursor.
// - The Keyframe that ends the flush stands for all before it; so does any that is written (pty-ext §7.5).
// - A cursor that may be behind a hole waits for a Keyframe, and does not move until then: a cut in between is repaired by replay.

/** `write`: it restores the screen. `after replay`: the replay was whole, it changes nothing. `skip`: it tells nothing new. */
export type KeyframeVerdict = 'write' | 'after replay' | 'skip';

export class Cursor {
  /** Number of the last frame applied, all before it being applied too; undefined until there is a screen. */
  #position: number | undefined;
  /** RoleAssigned's number while the flush of a join lasts. */
  #joinedAt: number | undefined;
  /** Frames are folded into a Keyframe that is on its way. */
  #skipping = true;
  /** False after frames were lost for which no Keyframe could be made. */
  #whole = true;
  /** A Keyframe was asked for: the next is to be written. */
  #asked = false;

  constructor(replayFrom?: number) {
    this.#position = replayFrom;
  }

  /** `replay_from` of the next join; undefined: no replay, a Keyframe is enough. */
  get position(): number | undefined {
    return this.#position;
  }

  /** From a join's RoleAssigned to the Keyframe that ends its flush. */
  get flushing(): boolean {
    return this.#joinedAt !== undefined;
  }

  /** Neither in a flush nor waiting for a Keyframe. */
  get live(): boolean {
    return !this.flushing && !this.#skipping;
  }

  /** A new connection is about to join. */
  begin(): void {
    this.#joinedAt = undefined;
    this.#skipping = this.#position === undefined;
    this.#asked = false;
  }

  /** RoleAssigned of the join: the flush begins. */
  joined(sequence: number): void {
    this.#joinedAt = sequence;
  }

  /** REPLAY_OUT_OF_RANGE: the screen is lost (pty-ext §8). */
  outOfRange(): void {
    this.#position = undefined;
    this.#skipping = true;
  }

  /** PTY_OUTPUT_LAGGED: a hole follows, then a Keyframe (pty-ext §7.7). */
  lagged(): void {
    this.#skipping = true;
  }

  askForKeyframe(): void {
    this.#asked = true;
  }

  /** Whether this Output or Resize is to be applied. */
  screen(sequence: number): boolean {
    return !this.#skipping && this.#advance(sequence);
  }

  /** Whether this frame of another kind is new. */
  other(sequence: number): boolean {
    if (this.#skipping || (this.#joinedAt !== undefined && sequence > this.#joinedAt)) return true;
    return this.#advance(sequence);
  }

  keyframe(sequence: number): KeyframeVerdict {
    if (this.#isReplayed(sequence)) {
      this.other(sequence);
      return 'skip';
    }
    const { flushing } = this;
    const write = this.#skipping || !this.#whole || this.#asked;
    this.#goLive(sequence, true);
    if (write) return 'write';
    return flushing ? 'after replay' : 'skip';
  }

  /** KEYFRAME_UNAVAILABLE: there will be none, so what comes is shown as it comes. */
  keyframeUnavailable(sequence: number): void {
    if (!this.#isReplayed(sequence)) this.#goLive(sequence, !this.#skipping && this.#whole);
  }

  #isReplayed(sequence: number): boolean {
    return this.#joinedAt !== undefined && sequence < this.#joinedAt;
  }

  #advance(sequence: number): boolean {
    if (sequence <= (this.#position ?? 0)) return false;
    this.#position = sequence;
    return true;
  }

  #goLive(sequence: number, whole: boolean): void {
    this.#joinedAt = undefined;
    this.#skipping = false;
    this.#asked = false;
    this.#whole = whole;
    this.#advance(sequence);
  }
}
