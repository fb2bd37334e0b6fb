// What lies over the terminal, so that a session does not change its size for a word: below, since one reads from above, unless it would cover the row
// in which the cursor is. Knows nothing of what lies there.
import { h } from '../shared/dom.js';

/** Between it and the edge, in CSS pixels, as the style has it. */
const GAP_PX = 14;

/** In CSS pixels from the top of the page. */
export interface Span {
  readonly top: number;
  readonly bottom: number;
}

export interface Corner {
  readonly element: HTMLElement;
  /** The cursor may have moved. */
  look(): void;
}

/** `cursor` is where the cursor's row is seen; undefined while there is none. */
export function corner(cursor: () => Span | undefined, signal: AbortSignal, ...parts: readonly HTMLElement[]): Corner {
  const element = h('div', { class: 'corner' }, ...parts);
  let due = false;
  const place = () => {
    due = false;
    const row = cursor();
    // Nobody's pointer misses what it was going for.
    if (!row || element.matches(':hover, :focus-within')) return;
    element.classList.toggle('above', covers(element, row) && isFreeAbove(element, row));
  };
  const look = () => {
    if (due || signal.aborted) return;
    due = true;
    requestAnimationFrame(place);
  };
  const watcher = new MutationObserver(look);
  watcher.observe(element, { subtree: true, childList: true, characterData: true, attributeFilter: ['hidden'] });
  signal.addEventListener('abort', () => watcher.disconnect());
  return { element, look };
}

/** Where it lies below. */
function covers(element: HTMLElement, { bottom }: Span): boolean {
  const { height } = element.getBoundingClientRect();
  const stage = element.parentElement?.getBoundingClientRect().bottom ?? 0;
  return height > 0 && bottom > stage - height - GAP_PX;
}

function isFreeAbove(element: HTMLElement, { top }: Span): boolean {
  const { height } = element.getBoundingClientRect();
  const stage = element.parentElement?.getBoundingClientRect().top ?? 0;
  return top > stage + height + GAP_PX;
}
