// Whether images that a program prints are shown; what shows them is loaded then. Knows no connection.
import type { Terminal } from '@xterm/xterm';
import type { InlineImages } from './inline-images.js';

export interface Images {
  use(wanted: boolean): void;
  /** None of them belongs to what is written from now on. */
  clear(): void;
}

export function createImages(terminal: Terminal): Images {
  let wanted = false;
  let shown: InlineImages | undefined;
  const load = async () => {
    const { showImages } = await import('./inline-images.js');
    if (!wanted || shown || !terminal.element?.isConnected) return;
    shown = showImages(terminal);
    terminal.element.dataset.images = 'shown';
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
