// What lies over the terminal, so that a session does not change its size for a word: below, since one reads from above, unless it would cover the row
// in which the cursor is. Knows nothing of what lies there.
import { h } from '../shared/dom.js';
import type { Box } from '../terminal/fit.js';

/** Between it and the edge, in CSS pixels, as the style has it. */
const GAP_PX = 14;

export interface Corner {
  readonly element: HTMLElement;
  /** The cursor may have moved. */
  look(): void;
}

/** `cursorRow` is where that row is seen, in CSS pixels from the top left of the page; undefined while there is none. */
export function corner(cursorRow: () => Box | undefined, signal: AbortSignal, ...parts: readonly HTMLElement[]): Corner {
  const element = h('div', { class: 'corner' }, ...parts);
  let due = false;
  const place = () => {
    due = false;
    const row = cursorRow();
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
function covers(element: HTMLElement, row: Box): boolean {
  const { height, left, right } = element.getBoundingClientRect();
  const stage = element.parentElement?.getBoundingClientRect().bottom ?? 0;
  return height > 0 && row.bottom > stage - height - GAP_PX && row.right > left && row.left < right;
}

function isFreeAbove(element: HTMLElement, { top }: Box): boolean {
  const { height } = element.getBoundingClientRect();
  const stage = element.parentElement?.getBoundingClientRect().top ?? 0;
  return top > stage + height + GAP_PX;
}
