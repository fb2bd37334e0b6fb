// Marks the page while it is used by keys, so that what has the focus is seen. Knows no view.

/**
 * Browsers take a key with Ctrl for no sign of the keyboard: what such a key gives the focus to would have no ring for one who used a mouse or a finger
 * before. To be called once.
 */
export function showKeys(document: Document): void {
  const { dataset } = document.documentElement;
  document.addEventListener('keydown', () => (dataset.keys = ''), { capture: true });
  document.addEventListener('pointerdown', () => delete dataset.keys, { capture: true });
}
