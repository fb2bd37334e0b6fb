// The keys of a playback. Knows no player, and leaves alone what is typed into a field.

export interface KeyActions {
  toggle(): void;
  /** By so many milliseconds. */
  leap(by: number): void;
  step(by: 1 | -1): void;
  /** To the next marker, or the one before. */
  marker(by: 1 | -1): void;
  start(): void;
  end(): void;
  faster(by: 1 | -1): void;
  find(): void;
}

/** Milliseconds that an arrow key leaps over. */
const LEAP_MS = 5000;

/** What a key does; undefined if nothing. */
export function actOf({ key, shiftKey }: Pick<KeyboardEvent, 'key' | 'shiftKey'>, actions: KeyActions): (() => void) | undefined {
  const acts: Readonly<Record<string, () => void>> = {
    ' ': actions.toggle,
    ArrowLeft: () => (shiftKey ? actions.marker(-1) : actions.leap(-LEAP_MS)),
    ArrowRight: () => (shiftKey ? actions.marker(1) : actions.leap(LEAP_MS)),
    ',': () => actions.step(-1),
    '.': () => actions.step(1),
    '-': () => actions.faster(-1),
    '+': () => actions.faster(1),
    '/': actions.find,
    Home: actions.start,
    End: actions.end,
  };
  return Object.hasOwn(acts, key) ? acts[key] : undefined;
}

/** Until the signal. Before the terminal sees them, which would take some for its own. */
export function obeyKeys(root: HTMLElement, actions: KeyActions, signal: AbortSignal): void {
  const obey = (event: KeyboardEvent) => {
    const { target, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey || (target instanceof Element && takesKey(target, event.key))) return;
    const act = actOf(event, actions);
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
  root.addEventListener('keydown', obey, { signal, capture: true });
}

/** Text is typed into a field, a list is walked through, and a button is pressed with the space bar. The terminal's own field takes nothing here. */
function takesKey(target: Element, key: string): boolean {
  if (target.matches('input[type=search], select')) return true;
  return key === ' ' && target.matches('button, summary, a, input[type=checkbox]');
}
