// A sheet over the page: named, closed with Escape or its button, and gone then. Knows not what is in it.
import { h } from './dom.js';

export interface Dialog {
  readonly element: HTMLDialogElement;
  /** Resolves once it is gone. */
  readonly closed: Promise<void>;
}

/** Shown at once; the focus goes back to where it was. */
export function showDialog(title: string, id: string, ...content: readonly HTMLElement[]): Dialog {
  const heading = h('h2', { id: `${id}-title` }, title);
  const close = h('button', { type: 'button', class: 'quiet', 'aria-label': 'Close', onclick: () => element.close() }, '✕');
  const element = h(
    'dialog',
    { class: 'dialog', 'aria-labelledby': `${id}-title`, 'data-testid': id },
    h('header', {}, heading, close),
    ...content,
  );
  const closed = new Promise<void>((resolve) => element.addEventListener('close', () => resolve(element.remove())));
  // A click beside the sheet hits the dialog itself: its content fills it.
  element.addEventListener('pointerdown', ({ target }) => target === element && element.close());
  document.body.append(element);
  element.showModal();
  return { element, closed };
}
