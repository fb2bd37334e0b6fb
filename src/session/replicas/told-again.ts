// What another replica has to know and could not be told: it is told again until it knows. Knows no bus, no store, and not what it is.

/** Between two attempts, in milliseconds. */
const AGAIN_MS = 1000;
/** Told at once; the others wait for the next attempt. */
const AT_ONCE = 100;
/** So much may wait; beyond that the oldest is told no more. */
const WAITING_LIMIT = 10_000;

export interface Notice {
  /** Rejects if it is not known to have arrived. May be done twice. */
  tell(): Promise<unknown>;
  /** Whether nobody needs to know it any more. */
  isOver(): Promise<boolean>;
}

export class ToldAgain {
  readonly #waiting = new Set<Notice>();
  #timer: NodeJS.Timeout | undefined;
  #isOpen = true;

  /** At once, and again until it has arrived. */
  async tell(notice: Notice): Promise<void> {
    if (await hasArrived(notice)) return;
    this.#waiting.add(notice);
    const [oldest] = this.#waiting;
    if (this.#waiting.size > WAITING_LIMIT && oldest) this.#waiting.delete(oldest);
    this.#later();
  }

  close(): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
    this.#waiting.clear();
  }

  #later(): void {
    if (this.#isOpen) this.#timer ??= setTimeout(() => void this.#again(), AGAIN_MS).unref();
  }

  /** Those that did not arrive wait behind the others. */
  async #again(): Promise<void> {
    const those = [...this.#waiting].slice(0, AT_ONCE);
    for (const one of those) this.#waiting.delete(one);
    const arrived = await Promise.all(those.map(hasArrived));
    this.#timer = undefined;
    for (const [i, one] of those.entries()) if (!arrived[i]) this.#waiting.add(one);
    if (this.#waiting.size > 0) this.#later();
  }
}

const hasArrived = ({ tell, isOver }: Notice): Promise<boolean> =>
  tell().then(
    () => true,
    () => isOver(),
  );
