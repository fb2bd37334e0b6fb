// How fast the connection is: the way to the gateway and back, and what comes in. Knows no view's other parts.
import { h } from '../shared/dom.js';

/** Milliseconds between two measurements. */
const EVERY_MS = 3000;

export interface Readout {
  readonly element: HTMLElement;
  /** So many bytes came. */
  came(bytes: number): void;
  /** Only what is live is measured. */
  live(is: boolean): void;
  dispose(): void;
}

/** `ask` resolves when the gateway has answered, and may reject. */
export function readout(ask: () => Promise<void>): Readout {
  const element = h('span', {
    class: 'readout',
    title: 'To the gateway and back, and what comes from it',
    hidden: true,
    'data-testid': 'readout',
  });
  let isLive = false;
  let bytes = 0;
  const measure = async () => {
    if (!isLive || document.visibilityState !== 'visible' || !element.isConnected) return;
    const since = performance.now();
    await ask();
    const rate = inBytes((bytes * 1000) / EVERY_MS);
    element.textContent = `${Math.max(1, Math.round(performance.now() - since))} ms · ${rate}/s`;
    element.hidden = !isLive;
    bytes = 0;
  };
  // What the connection cannot do it says itself.
  const timer = setInterval(() => void measure().catch(() => {}), EVERY_MS);
  return {
    element,
    came: (more) => {
      bytes += more;
    },
    live(is) {
      isLive = is;
      element.hidden ||= !is;
    },
    dispose: () => clearInterval(timer),
  };
}

/** As `512 B` or `1.5 kB`. */
export function inBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB'];
  const power = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${power === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[power]}`;
}
