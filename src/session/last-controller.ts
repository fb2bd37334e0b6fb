// When a session ends since nobody controls it any more (policy.terminate_on_last_controller). Knows no member and no log.

interface Rule {
  readonly isOn: boolean;
  /** Milliseconds in which a controller may come back; 0 ends it at once. */
  readonly returnMs: number;
}

export class LastController {
  readonly #rule: Rule;
  readonly #over: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** `over` is called when the last has gone and none has come. */
  constructor(rule: Rule, over: () => void) {
    this.#rule = rule;
    this.#over = over;
  }

  /** Whether one may still come back. */
  get isAwaited(): boolean {
    return this.#timer !== undefined;
  }

  /** The last one has gone. */
  left(): void {
    const { isOn, returnMs } = this.#rule;
    if (!isOn) return;
    if (returnMs === 0) this.#over();
    else this.#timer ??= setTimeout(() => this.#over(), returnMs).unref();
  }

  /** There is one, or none is awaited any more. */
  came(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
