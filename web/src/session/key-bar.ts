// Keys that a phone's keyboard lacks. Knows no terminal: it hands out what a key sends.
import { h } from '../shared/dom.js';

const ESC = '\x1b';
type Arrow = 'A' | 'B' | 'C' | 'D';

export interface KeyBar {
  readonly element: HTMLElement;
  /** What was typed, with Ctrl laid over it if that key is down; Ctrl is up again afterwards. */
  modify(bytes: Uint8Array): Uint8Array;
}

/** `applicationCursor` tells which of the two kinds of arrow keys the program asked for. */
export function keyBar(send: (data: string) => void, applicationCursor: () => boolean): KeyBar {
  let ctrl = false;
  const setCtrl = (on: boolean) => {
    ctrl = on;
    ctrlKey.setAttribute('aria-pressed', String(on));
  };
  const key = (text: string, name: string, press: () => void) =>
    h(
      'button',
      { type: 'button', 'aria-label': name, 'data-testid': `key-${name.toLowerCase().replaceAll(' ', '-')}`, onclick: press },
      text,
    );
  const arrow = (text: string, name: string, letter: Arrow) =>
    key(text, name, () => {
      const plain = applicationCursor() ? `${ESC}O${letter}` : `${ESC}[${letter}`;
      const data = ctrl ? `${ESC}[1;5${letter}` : plain;
      setCtrl(false);
      send(data);
    });
  const ctrlKey = key('Ctrl', 'Ctrl', () => setCtrl(!ctrl));
  ctrlKey.setAttribute('aria-pressed', 'false');
  const element = h(
    'div',
    { class: 'key-bar', role: 'toolbar', 'aria-label': 'Terminal keys', 'data-testid': 'key-bar' },
    key('Esc', 'Esc', () => send(ESC)),
    key('Tab', 'Tab', () => send('\t')),
    ctrlKey,
    arrow('←', 'Arrow left', 'D'),
    arrow('↑', 'Arrow up', 'A'),
    arrow('↓', 'Arrow down', 'B'),
    arrow('→', 'Arrow right', 'C'),
  );
  // The terminal keeps the focus, and with it the phone's keyboard stays open.
  element.addEventListener('pointerdown', (event) => event.preventDefault());
  return {
    element,
    modify(bytes) {
      const code = bytes[0];
      if (!ctrl || bytes.length !== 1 || code === undefined) return bytes;
      setCtrl(false);
      return Uint8Array.of(code === 0x3f ? 0x7f : code & 0x1f);
    },
  };
}
