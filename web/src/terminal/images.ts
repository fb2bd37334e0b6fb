// Whether images that a program prints are shown; what shows them is loaded then. Knows no connection.
import type { Terminal } from '@xterm/xterm';
import type { InlineImages } from './inline-images.js';

export interface Images {
  use(wanted: boolean): void;
  /** None of them belongs to what is written from now on. */
  clear(): void;
}

/** None are shown after the signal. */
export function createImages(terminal: Terminal, signal: AbortSignal): Images {
  let wanted = false;
  let shown: InlineImages | undefined;
  const load = async () => {
    const { showImages } = await import('./inline-images.js');
    if (!wanted || shown || signal.aborted) return;
    shown = showImages(terminal);
    if (terminal.element) terminal.element.dataset.images = 'shown';
  };
  return {
    use(on) {
      wanted = on;
      if (on) return void (shown ?? load().catch(() => {}));
      shown?.dispose();
      shown = undefined;
      delete terminal.element?.dataset.images;
    },
    clear: () => shown?.clear(),
  };
}
