// Frames for one member alone: errors of the terminal, and pictures of the screen (pty-ext §7.5, §7.7). Knows no role and no verb.
import type { PtyErrorCode } from '../errors.js';
import type { Place } from '../log/log.js';
import type { Frame } from '../protocol/frames.js';
import { entry } from '../protocol/make-frames.js';
import type { Screen } from '../terminal/terminal.js';
import { OneASecond } from './one-a-second.js';
import { keyframeOf } from './picture.js';
import type { Attached } from './roster.js';

export class Asides {
  readonly #screen: Screen;
  readonly #member: (clientId: string) => Attached | undefined;
  readonly #append: (drafts: readonly Place[], taken: (sequence: number) => void) => void;
  readonly #requests = new OneASecond();
  /** Bounded by the members, and by the time that a screen may take to answer. */
  readonly #developing = new Set<Promise<Frame>>();

  /** `member` finds one who may still be told something. */
  constructor(
    screen: Screen,
    member: (clientId: string) => Attached | undefined,
    append: (drafts: readonly Place[], taken: (sequence: number) => void) => void,
  ) {
    this.#screen = screen;
    this.#member = member;
    this.#append = append;
  }

  error(clientId: string, code: PtyErrorCode, message: string): void {
    const to = this.#member(clientId);
    const error = entry('Error', { code, message });
    if (to) this.#append([{ to: clientId }], (sequence) => deliver(to, { ...error, sequence }));
  }

  picture(clientId: string): void {
    const to = this.#member(clientId);
    if (to) this.#append([{ to: clientId }], (sequence) => to.member.deliver({ sequence, frame: this.develop(sequence, clientId) }));
  }

  /** At once, or with all that is asked for within a second at its end (protocol R9). */
  askForPicture(clientId: string): void {
    this.#requests.ask(clientId, () => this.picture(clientId));
  }

  /** The Keyframe with that number. To be called when the log has taken it: then all below it is folded, and nothing above. */
  develop(sequence: number, clientId: string): Promise<Frame> {
    const picture = keyframeOf(this.#screen, sequence, () => this.askForPicture(clientId));
    this.#developing.add(picture);
    void picture.then(() => this.#developing.delete(picture));
    return picture;
  }

  /** Resolves when every Keyframe that was promised is there; the screen may go then. */
  async developed(): Promise<void> {
    await Promise.all(this.#developing);
  }

  forget(clientId: string): void {
    this.#requests.forget(clientId);
  }
}

export function deliver(to: Attached, frame: Frame): void {
  to.member.deliver({ sequence: frame.sequence, frame });
}
