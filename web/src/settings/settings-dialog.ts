// The sheet with what a visitor can choose on this device; each choice holds at once. Knows no terminal.
import { showDialog } from '../shared/dialog.js';
import { h } from '../shared/dom.js';
import { MAX_FONT_PX, MIN_FONT_PX, renderers, type Settings, themes } from './choices.js';
import { change, settings } from './settings.js';

const themeWords = { system: 'As this device', dark: 'Dark', light: 'Light' } as const;
const rendererWords = { auto: 'Automatic', webgl: 'By WebGL', dom: 'As text' } as const;

export function showSettings(): void {
  const { theme, renderer, fontPx, font, copyOnSelect, screenReader, images } = settings();
  showDialog(
    'Settings',
    'settings',
    h('p', { class: 'hint' }, 'They are kept by this browser alone.'),
    h(
      'div',
      { class: 'choices' },
      select('Colours', 'theme', themes, themeWords, theme),
      number('Font size', 'fontPx', fontPx),
      text('Font', 'font', font),
      select('The terminal is drawn', 'renderer', renderers, rendererWords, renderer),
      check('Copy what is selected', 'copyOnSelect', copyOnSelect),
      check('Text for screen readers', 'screenReader', screenReader),
      check('Images that programs print', 'images', images),
    ),
  );
}

type Name = keyof Settings;

function row(words: string, name: Name, field: HTMLElement): HTMLElement {
  field.id = `setting-${name}`;
  field.dataset.testid = `setting-${name}`;
  return h('label', { for: field.id }, words, field);
}

function select<Value extends string>(
  words: string,
  name: Name,
  values: readonly Value[],
  named: Readonly<Record<Value, string>>,
  chosen: Value,
): HTMLElement {
  const options = values.map((value) => h('option', { value, selected: value === chosen }, named[value]));
  const field = h('select', { onchange: () => change({ [name]: field.value }) }, ...options);
  return row(words, name, field);
}

function number(words: string, name: Name, value: number): HTMLElement {
  const bounds = { min: MIN_FONT_PX, max: MAX_FONT_PX, placeholder: 'automatic' };
  const set = () => change({ [name]: Number.isFinite(field.valueAsNumber) ? field.valueAsNumber : 0 });
  const field = h('input', { type: 'number', ...bounds, value: value === 0 ? '' : value, onchange: set });
  return row(words, name, field);
}

function text(words: string, name: Name, value: string): HTMLElement {
  const field = h('input', {
    value,
    placeholder: "this device's own",
    autocomplete: 'off',
    onchange: () => change({ [name]: field.value }),
  });
  return row(words, name, field);
}

function check(words: string, name: Name, checked: boolean): HTMLElement {
  const field = h('input', { type: 'checkbox', checked, onchange: () => change({ [name]: field.checked }) });
  return row(words, name, field);
}
