// The sheet with the keys of the page. Knows no terminal and no playback: those that act in them are listed, not made, here.
import { showDialog } from '../shared/dialog.js';
import { h } from '../shared/dom.js';

type Keys = ReadonlyArray<readonly [keys: readonly string[], does: string]>;

const keys: Keys = [
  [['Ctrl', 'Shift', '↑'], 'leave the terminal for the buttons above it'],
  [['Ctrl', 'Shift', '← →'], 'the session before, and the next one'],
  [['Ctrl', 'Shift', 'F'], 'search in what was printed'],
  [['Ctrl', 'Shift', 'C'], 'copy what is selected'],
  [['Shift', 'Page ↑ ↓'], 'scroll back, and forth'],
  [['?'], 'these keys (outside of a terminal)'],
  [['Esc'], 'close what is open'],
];

const playbackKeys: Keys = [
  [['Space'], 'play and pause'],
  [['← →'], 'five seconds back, on'],
  [['Shift', '← →'], 'to the marker before, the next one'],
  [[', .'], 'to the output before, the next one'],
  [['Home'], 'to the beginning'],
  [['End'], 'to the end'],
  [['− +'], 'slower, faster'],
  [['/'], 'find what was printed'],
];

export function showShortcuts(): void {
  showDialog('Keys', 'shortcuts', table(keys), h('h3', {}, 'While a session is played'), table(playbackKeys));
}

function table(lines: Keys): HTMLElement {
  const line = ([names, does]: Keys[number]) =>
    h('tr', {}, h('th', { scope: 'row' }, ...names.map((name) => h('kbd', {}, name))), h('td', {}, does));
  return h('table', { class: 'keys' }, h('tbody', {}, ...lines.map(line)));
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
