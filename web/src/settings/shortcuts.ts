// The sheet with the keys of the page. Knows no terminal: those that act in it are listed, not made, here.
import { showDialog } from '../shared/dialog.js';
import { h } from '../shared/dom.js';

const keys: ReadonlyArray<readonly [keys: readonly string[], does: string]> = [
  [['Ctrl', 'Shift', '↑'], 'leave the terminal for the buttons above it'],
  [['Ctrl', 'Shift', '← →'], 'the session before, and the next one'],
  [['Ctrl', 'Shift', 'F'], 'search in what was printed'],
  [['Ctrl', 'Shift', 'C'], 'copy what is selected'],
  [['Shift', 'Page ↑ ↓'], 'scroll back, and forth'],
  [['?'], 'these keys (outside of a terminal)'],
  [['Esc'], 'close what is open'],
];

export function showShortcuts(): void {
  const line = ([names, does]: (typeof keys)[number]) =>
    h('tr', {}, h('th', { scope: 'row' }, ...names.map((name) => h('kbd', {}, name))), h('td', {}, does));
  showDialog('Keys', 'shortcuts', h('table', { class: 'keys' }, h('tbody', {}, ...keys.map(line))));
}

/** `?` opens the sheet, unless somebody is typing it. */
export function openOnQuestionMark(): void {
  document.addEventListener('keydown', (event) => {
    const { target, key } = event;
    const isTyping = target instanceof Element && target.closest('input, textarea, select, dialog') !== null;
    if (key !== '?' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    showShortcuts();
  });
}
