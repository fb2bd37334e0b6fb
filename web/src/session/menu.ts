// The session's menu: what is wanted seldom. Knows no connection and no terminal.
import { showSettings } from '../settings/settings-dialog.js';
import { showShortcuts } from '../settings/shortcuts.js';
import { h } from '../shared/dom.js';

export interface MenuActions {
  copyLink(): void;
  /** Shows what has happened so far. */
  replay(): void;
  share(): void;
  search(): void;
  zoom(step: -1 | 1): void;
  paste(): void;
  repaint(): void;
  follow(on: boolean): void;
  end(): void;
}

export interface Menu {
  readonly element: HTMLDetailsElement;
  /** Shows what can be done now: type, ask for a picture of what runs, end it. */
  show(can: { readonly write: boolean; readonly repaint: boolean; readonly end: boolean }): void;
}

/** `shares` tells whether this visitor may make links to watch. */
export function menu(actions: MenuActions, follows: boolean, shares: boolean): Menu {
  const pick = (run: () => void) => {
    element.open = false;
    run();
  };
  const item = (text: string, id: string, run: () => void, look?: string) =>
    h('button', { type: 'button', class: look, 'data-testid': id, onclick: () => pick(run) }, text);
  const choice = (text: string, id: string, checked: boolean, set: (on: boolean) => void) => {
    const box = h('input', { type: 'checkbox', checked, 'data-testid': id });
    box.addEventListener('change', () => set(box.checked));
    return h('label', {}, box, text);
  };
  const paste = item('Paste', 'paste', actions.paste);
  const follow = choice('Size follows my window', 'follow', follows, actions.follow);
  const repaint = item('Paint the screen anew', 'repaint', actions.repaint);
  const end = item('End the session', 'end', actions.end, 'danger');
  const sheet = h(
    'div',
    { class: 'sheet' },
    shares && item('Share a link to watch…', 'share-open', actions.share),
    item('Copy the address of this session', 'copy-link', actions.copyLink),
    item('Play it from the beginning', 'replay', actions.replay),
    paste,
    item('Search…', 'search-open', actions.search),
    zoom(actions.zoom),
    repaint,
    follow,
    item('Settings…', 'settings-open', showSettings),
    item('Keys…', 'shortcuts-open', showShortcuts),
    end,
  );
  const element = h('details', { class: 'fold menu' }, h('summary', { 'aria-label': 'More', 'data-testid': 'menu' }, '⋯'), sheet);
  return {
    element,
    show(can) {
      paste.hidden = follow.hidden = !can.write;
      repaint.hidden = !can.repaint;
      end.hidden = !can.end;
    },
  };
}

function zoom(act: (step: -1 | 1) => void): HTMLElement {
  const step = (text: string, by: -1 | 1) =>
    h('button', { type: 'button', 'data-testid': text.toLowerCase(), onclick: () => act(by) }, text);
  return h('div', { class: 'zoom', role: 'group', 'aria-label': 'Text' }, 'Text', step('Smaller', -1), step('Larger', 1));
}

/** Folds close when one clicks elsewhere or presses Escape in them. */
export function closeFoldsOutside(root: HTMLElement, signal: AbortSignal): void {
  const close = (except: EventTarget | null) => {
    for (const fold of root.querySelectorAll<HTMLDetailsElement>('details.fold[open]')) {
      if (!(except instanceof Node && fold.contains(except))) fold.open = false;
    }
  };
  document.addEventListener('pointerdown', (event) => close(event.target), { signal });
  root.addEventListener(
    'keydown',
    (event) => {
      const fold =
        event.target instanceof Element && event.key === 'Escape' ? event.target.closest<HTMLDetailsElement>('details.fold[open]') : null;
      if (!fold) return;
      fold.open = false;
      fold.querySelector('summary')?.focus();
    },
    { signal },
  );
}
