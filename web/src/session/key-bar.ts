// Keys that a phone's keyboard lacks. Knows no terminal: it hands out what a key sends.
import { h } from '../shared/dom.js';

const ESC = '\x1b';
type Arrow = 'A' | 'B' | 'C' | 'D';

export interface KeyBar {
  readonly element: HTMLElement;
  /** What was typed, with Ctrl and Alt laid over it if they are down; both are up again afterwards. */
  modify(bytes: Uint8Array): Uint8Array;
}

export interface KeyBarActions {
  send(data: string): void;
  paste(): void;
  /** Which of the two kinds of arrow keys the program asked for. */
  applicationCursor(): boolean;
}

export function keyBar({ send, paste, applicationCursor }: KeyBarActions): KeyBar {
  const ctrl = modifier('Ctrl');
  const alt = modifier('Alt');
  const letGo = () => [ctrl, alt].map((key) => key.release());
  const arrow = (text: string, name: string, letter: Arrow) =>
    key(text, name, () => send(arrowKey(letter, { ctrl: ctrl.release(), alt: alt.release(), application: applicationCursor() })));
  const element = h(
    'div',
    { class: 'key-bar', role: 'toolbar', 'aria-label': 'Terminal keys', 'data-testid': 'key-bar' },
    key('Esc', 'Esc', () => send(ESC)),
    key('Tab', 'Tab', () => send('\t')),
    ctrl.element,
    alt.element,
    arrow('←', 'Arrow left', 'D'),
    arrow('↑', 'Arrow up', 'A'),
    arrow('↓', 'Arrow down', 'B'),
    arrow('→', 'Arrow right', 'C'),
    key('Paste', 'Paste', paste),
  );
  // The terminal keeps the focus, and with it the phone's keyboard stays open.
  element.addEventListener('pointerdown', (event) => event.preventDefault());
  return {
    element,
    modify(bytes) {
      const code = bytes[0];
      // What is pasted, and what a key of many bytes sends, goes as it is.
      if (bytes.length !== 1 || code === undefined) return bytes;
      const [isCtrl, isAlt] = letGo();
      const typed = isCtrl ? withCtrl(code) : code;
      return isAlt ? Uint8Array.of(ESC.charCodeAt(0), typed) : Uint8Array.of(typed);
    },
  };
}

const withCtrl = (code: number) => (code === 0x3f ? 0x7f : code & 0x1f);

/** As xterm sends them: modifiers are told by one number, 1 and a bit for each. */
function arrowKey(letter: Arrow, { ctrl, alt, application }: { ctrl: boolean; alt: boolean; application: boolean }): string {
  const modifiers = 1 + (alt ? 2 : 0) + (ctrl ? 4 : 0);
  if (modifiers > 1) return `${ESC}[1;${modifiers}${letter}`;
  return application ? `${ESC}O${letter}` : `${ESC}[${letter}`;
}

function key(text: string, name: string, press: () => void): HTMLButtonElement {
  const testId = `key-${name.toLowerCase().replaceAll(' ', '-')}`;
  return h('button', { type: 'button', 'aria-label': name, 'data-testid': testId, onclick: press }, text);
}

/** A key that stays down until another one is pressed. */
function modifier(name: string) {
  let isDown = false;
  const set = (on: boolean) => {
    isDown = on;
    element.setAttribute('aria-pressed', String(on));
  };
  const element = key(name, name, () => set(!isDown));
  set(false);
  return {
    element,
    /** Whether it was down. */
    release(): boolean {
      const was = isDown;
      set(false);
      return was;
    },
  };
}
