// The terminal on the page: bytes in, in order; what a person typed out. Knows no connection and no protocol.
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import { gateAnswers } from './answers.js';
import { avoidHazards } from './hazards.js';
import { currentTheme, onThemeChange } from './theme.js';
import { createWrites } from './writes.js';

/** Lines above the screen that can be scrolled back to. */
const SCROLLBACK_LINES = 5000;
/** Font sizes in CSS pixels: the usual one, on a narrow window, and the smallest to which a large session is shrunk. */
const FONT_PX = 14;
const NARROW_FONT_PX = 12;
const MIN_FONT_PX = 3;
const FONT_STEP_PX = 0.25;
/** Narrower windows, in CSS pixels, are taken for phones. */
const NARROW_PX = 640;

export interface Size {
  readonly cols: number;
  readonly rows: number;
}

export interface ScreenEvents {
  /** Typed or pasted by a person, or an answer of the terminal to a live question. */
  typed(bytes: Uint8Array): void;
  title(title: string): void;
  selection(something: boolean): void;
  /** Output came faster than it can be shown; a Keyframe is needed to go on. */
  fellBehind(): void;
  /** The key for leaving the terminal with the keyboard was pressed. */
  left(): void;
}

export interface Screen {
  /** `live` output may be answered by the terminal; replayed output was answered when it was live. */
  output(bytes: Uint8Array, live: boolean): void;
  /** Restores the screen from a snapshot of this size, whatever was shown before. */
  keyframe(bytes: Uint8Array): void;
  resize(size: Size): void;
  /** Whether typing is taken, and questions are answered. */
  setWritable(writable: boolean): void;
  /** The size that fills the window with the usual font. */
  windowSize(): Size | undefined;
  /** Shows the whole session: in the usual font if it fits, else in the largest that does. */
  shrinkToFit(): void;
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
  gateAnswers(terminal.parser, () => writable && writes.parsingLive());
  onThemeChange(() => {
    terminal.options.theme = currentTheme();
  }, closing.signal);
  terminal.onData((text) => events.typed(new TextEncoder().encode(text)));
  terminal.onBinary((text) => events.typed(Uint8Array.from(text, (c) => c.charCodeAt(0) & 0xff)));
  terminal.onTitleChange(events.title);
  terminal.onSelectionChange(() => events.selection(terminal.hasSelection()));
  terminal.attachCustomKeyEventHandler((event) => ownKey(event, terminal, writable, events.left));

  const shrinkToFit = () => fitFont(terminal, fitter);
  return {
    output: writes.output,
    keyframe: writes.keyframe,
    resize: (size) =>
      writes.after(() => {
        terminal.resize(size.cols, size.rows);
        shrinkToFit();
      }),
    setWritable(value) {
      writable = value;
      terminal.options.disableStdin = !value;
    },
    windowSize: () => sizeAtUsualFont(terminal, fitter),
    shrinkToFit,
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
function ownKey(event: KeyboardEvent, terminal: Terminal, writable: boolean, left: () => void): boolean {
  if (event.ctrlKey && event.shiftKey && event.key === 'ArrowUp') {
    if (event.type === 'keydown') left();
    return false;
  }
  if (event.ctrlKey && event.shiftKey && event.code === 'KeyC' && terminal.hasSelection()) {
    event.preventDefault();
    if (event.type === 'keydown') void navigator.clipboard.writeText(terminal.getSelection());
    return false;
  }
  // One who only watches can walk on with Tab.
  return writable || event.key !== 'Tab';
}

const usualFont = () => (window.innerWidth < NARROW_PX ? NARROW_FONT_PX : FONT_PX);

function sizeAtUsualFont(terminal: Terminal, fitter: FitAddon): Size | undefined {
  const shown = terminal.options.fontSize ?? FONT_PX;
  terminal.options.fontSize = usualFont();
  const size = proposed(fitter);
  terminal.options.fontSize = shown;
  return size;
}

function proposed(fitter: FitAddon): Size | undefined {
  const size = fitter.proposeDimensions();
  return size && size.cols > 0 && size.rows > 0 ? size : undefined;
}

/** Bisects for the largest font, at most the usual one, in which the session is wholly in view. */
function fitFont(terminal: Terminal, fitter: FitAddon): void {
  const fits = (steps: number) => {
    terminal.options.fontSize = steps * FONT_STEP_PX;
    const room = proposed(fitter);
    return room === undefined || (room.cols >= terminal.cols && room.rows >= terminal.rows);
  };
  let low = MIN_FONT_PX / FONT_STEP_PX;
  let high = usualFont() / FONT_STEP_PX;
  if (fits(high)) return;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle;
  }
  fits(low);
}
