// Where a member that fell behind is on its way back to live (pty-ext §7.7). Knows no socket and no session.
import type { Frame } from '../protocol/frames.js';
import { readPayload } from '../protocol/make-frames.js';

/** The session is asked; it has heard; PTY_OUTPUT_LAGGED was sent, and a Keyframe is next. */
type Step = 'asked' | 'heard' | 'told';

export class Lag {
  #step: Step | undefined;

  /** While it is, frames of everyone are skipped. */
  get isOn(): boolean {
    return this.#step !== undefined;
  }

  /** `ask` tells the session of it; `heard` is called when it knows. */
  begin(ask: () => Promise<void>, heard: () => void): void {
    this.#step = 'asked';
    void ask().then(() => {
      if (this.#step === 'asked') this.#step = 'heard';
      heard();
    });
  }

  /** A private frame was sent. True if live goes on behind it: the Keyframe after the notice, or the word that there is none. */
  sent(frame: Frame): boolean {
    const isMended = this.#step === 'told' && (frame.kind === 'Keyframe' || frame.kind === 'Error');
    if (isMended) this.#step = undefined;
    else if (this.isOn && isNotice(frame)) this.#step = 'told';
    return isMended;
  }

  /** A session that was ending when it heard says nothing about a lag. True if this one is over for that reason. */
  giveUp(): boolean {
    if (this.#step !== 'heard') return false;
    this.#step = undefined;
    return true;
  }
}

function isNotice(frame: Frame): boolean {
  if (frame.kind !== 'Error') return false;
  const payload = readPayload(frame);
  return payload.kind === 'Error' && payload.code === 'PTY_OUTPUT_LAGGED';
}
