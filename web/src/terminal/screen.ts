// The terminal on the page: bytes in, in order; what a person typed out. Knows no connection and no protocol.
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import type { Size } from '../../../src/client/index.js';
import { answerNothing } from './answers.js';
import { createFit, FONT_PX } from './fit.js';
import { avoidHazards } from './hazards.js';
import { currentTheme, onThemeChange } from './theme.js';
import { scrollByTouch } from './touch-scroll.js';
import { createWrites } from './writes.js';

/** Lines above the screen that can be scrolled back to. */
const SCROLLBACK_LINES = 5000;
export interface ScreenEvents {
  /** Typed or pasted by a person. */
  typed(bytes: Uint8Array): void;
  title(title: string): void;
  selection(something: boolean): void;
  /** Output came faster than it can be shown; a Keyframe is needed to go on. */
  fellBehind(): void;
  /** A person typed while nothing is taken. */
  deaf(): void;
  /** Whether the whole session can be shown only in a font that is hard to read. */
  small(is: boolean): void;
  /** The key for leaving the terminal with the keyboard was pressed. */
  left(): void;
}

export interface Screen {
  output(bytes: Uint8Array): void;
  /** Restores the screen from a snapshot of this size, whatever was shown before. */
  keyframe(bytes: Uint8Array): void;
  resize(size: Size): void;
  /** Bytes that are not drawn yet. */
  backlog(): number;
  /** Whether typing is taken. */
  setWritable(writable: boolean): void;
  /** The size that fills the window with the usual font. */
  windowSize(): Size | undefined;
  /** Shows the whole session: in the usual font if it fits, else in the largest that does, or in part where that is wanted. */
  shrinkToFit(): void;
  /** Whether a session that is too large to be read as a whole is shown in part, around its cursor. */
  setReadable(on: boolean): void;
  type(data: string): void;
  paste(text: string): void;
  selection(): string;
  applicationCursorKeys(): boolean;
  setReaderMode(on: boolean): void;
  focus(): void;
  dispose(): void;
}

export function createScreen(host: HTMLElement, events: ScreenEvents): Screen {
  const closing = new AbortController();
  const terminal = new Terminal({
    scrollback: SCROLLBACK_LINES,
    fontFamily: 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace',
    fontSize: FONT_PX,
    theme: currentTheme(),
    cursorBlink: false,
    macOptionIsMeta: true,
    disableStdin: true,
  });
  const fitter = new FitAddon();
  terminal.loadAddon(fitter);
  terminal.open(host);
  terminal.textarea?.setAttribute('aria-label', 'Terminal input. Control, Shift and Arrow Up together leave the terminal.');
  let writable = false;
  const writes = createWrites(terminal, events.fellBehind);
  avoidHazards(terminal);
  answerNothing(terminal.parser);
  onThemeChange(() => {
    terminal.options.theme = currentTheme();
  }, closing.signal);
  scrollByTouch(host, terminal, closing.signal);
  terminal.onData((text) => events.typed(new TextEncoder().encode(text)));
  terminal.onBinary((text) => events.typed(Uint8Array.from(text, (c) => c.charCodeAt(0) & 0xff)));
  terminal.onTitleChange(events.title);
  terminal.onSelectionChange(() => events.selection(terminal.hasSelection()));
  terminal.attachCustomKeyEventHandler((event) => ownKey(event, terminal, writable, events));
  const fit = createFit(host, terminal, fitter, events.small);
  return {
    output: writes.output,
    keyframe: writes.keyframe,
    backlog: writes.backlog,
    resize: (size) =>
      writes.after(() => {
        terminal.resize(size.cols, size.rows);
        fit.apply();
      }),
    setWritable(value) {
      writable = value;
      terminal.options.disableStdin = !value;
    },
    windowSize: fit.windowSize,
    shrinkToFit: fit.apply,
    setReadable: fit.setReadable,
    type: (data) => terminal.input(data),
    paste: (text) => terminal.paste(text),
    selection: () => terminal.getSelection(),
    applicationCursorKeys: () => terminal.modes.applicationCursorKeysMode,
    setReaderMode(on) {
      terminal.options.screenReaderMode = on;
    },
    focus: () => terminal.focus(),
    dispose() {
      closing.abort();
      terminal.dispose();
    },
  };
}

/** False for keys that the page keeps from the terminal. */
function ownKey(event: KeyboardEvent, terminal: Terminal, writable: boolean, events: ScreenEvents): boolean {
  if (event.ctrlKey && event.shiftKey && event.key === 'ArrowUp') {
    if (event.type === 'keydown') events.left();
    return false;
  }
  if (event.ctrlKey && event.shiftKey && event.code === 'KeyC' && terminal.hasSelection()) {
    event.preventDefault();
    if (event.type === 'keydown') void navigator.clipboard.writeText(terminal.getSelection());
    return false;
  }
  if (!writable && event.type === 'keydown' && isTyping(event)) events.deaf();
  // One who only watches can walk on with Tab.
  return writable || event.key !== 'Tab';
}

/** A key that would send something, and is no shortcut of the browser. */
function isTyping({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return (key.length === 1 || key === 'Enter' || key === 'Backspace') && !ctrlKey && !metaKey && !altKey;
}
