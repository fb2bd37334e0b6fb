// The keys that the page keeps from a terminal, and what they do. Knows no connection.
import type { Terminal } from '@xterm/xterm';

export interface KeyEvents {
  /** The key for leaving the terminal with the keyboard was pressed. */
  left(): void;
  searched(): void;
  copied(text: string): void;
  /** A person typed while nothing is taken. */
  deaf(): void;
}

/** `isWritable` tells whether typing is taken. */
export function keepKeys(terminal: Terminal, isWritable: () => boolean, events: KeyEvents): void {
  terminal.attachCustomKeyEventHandler((event) => {
    if (isForThePage(event)) return false;
    const act = event.ctrlKey && event.shiftKey ? pageKey(event, terminal, events) : undefined;
    if (act) {
      event.preventDefault();
      if (event.type === 'keydown') act();
      return false;
    }
    if (!isWritable() && event.type === 'keydown' && isTyping(event)) events.deaf();
    // One who only watches can walk on with Tab.
    return isWritable() || event.key !== 'Tab';
  });
}

/** They move between sessions: the page hears of them behind the terminal. */
function isForThePage({ code, ctrlKey, shiftKey }: KeyboardEvent): boolean {
  return ctrlKey && shiftKey && (code === 'ArrowLeft' || code === 'ArrowRight');
}

function pageKey({ code }: KeyboardEvent, terminal: Terminal, events: KeyEvents): (() => void) | undefined {
  if (code === 'ArrowUp') return () => events.left();
  if (code === 'KeyF') return () => events.searched();
  return code === 'KeyC' && terminal.hasSelection() ? () => events.copied(terminal.getSelection()) : undefined;
}

/** A key that would send something, and is no shortcut of the browser. */
function isTyping({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return (key.length === 1 || key === 'Enter' || key === 'Backspace') && !ctrlKey && !metaKey && !altKey;
}
