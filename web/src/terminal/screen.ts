// The terminal on the page: bytes in, in order; what a person typed out. Knows no connection and no protocol.
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import type { Size } from '../../../src/client/index.js';
import { avoidHazards } from '../../../src/client/xterm-hazards.js';
import { onSettings, settings } from '../settings/settings.js';
import { answerNothing } from './answers.js';
import { type Box, createFit, FONT_PX, type Small } from './fit.js';
import { createImages, type Images } from './images.js';
import { type KeyEvents, keepKeys } from './keys.js';
import { followLinks } from './links.js';
import { createRenderer } from './renderer.js';
import { type Found, type Search, searchIn } from './search.js';
import { currentContrast, currentTheme, onThemeChange } from './theme.js';
import { scrollByTouch } from './touch-scroll.js';
import { createWrites } from './writes.js';

/** Lines above the screen that can be scrolled back to. */
const SCROLLBACK_LINES = 5000;
const FONTS = 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace';

export interface ScreenEvents extends KeyEvents {
  /** Typed or pasted by a person. */
  typed(bytes: Uint8Array): void;
  title(title: string): void;
  selection(something: boolean): void;
  /** Output came faster than it can be shown; a Keyframe is needed to go on. */
  fellBehind(): void;
  small: Small;
  /** The cursor is elsewhere, perhaps. */
  cursorMoved(): void;
  /** Fonts changed: the window has room for more or for less. */
  roomChanged(): void;
}

export interface Screen {
  output(bytes: Uint8Array): void;
  /** Restores the screen from a snapshot of this size, whatever was shown before. */
  keyframe(bytes: Uint8Array): void;
  /** No image that was printed before belongs to what follows: a snapshot has none, and its lines may be others. */
  forgetImages(): void;
  resize(size: Size): void;
  /** Bytes that are not drawn yet. */
  backlog(): number;
  /** Runs once all that was written before is on the screen. */
  after(step: () => void): void;
  /** Whether typing is taken. */
  setWritable(writable: boolean): void;
  /** The size that fills the window with the usual font. */
  windowSize(): Size | undefined;
  /** Shows the whole session: in the usual font if it fits, else in the largest that does, or in part where that is wanted. */
  shrinkToFit(): void;
  /** Whether a session that is too large to be read as a whole is shown in part, around its cursor. */
  setReadable(on: boolean): void;
  /** Where the cursor's row is, in CSS pixels from the top left of the page. */
  cursorRow(): Box;
  type(data: string): void;
  paste(text: string): void;
  selection(): string;
  search(found: (what: Found) => void): Promise<Search>;
  applicationCursorKeys(): boolean;
  /** Shows what is printed now, for one who has scrolled back. */
  toBottom(): void;
  focus(): void;
  dispose(): void;
}

export function createScreen(host: HTMLElement, events: ScreenEvents): Screen {
  const closing = new AbortController();
  const terminal = newTerminal();
  const fitter = new FitAddon();
  terminal.loadAddon(fitter);
  terminal.open(host);
  terminal.textarea?.setAttribute('aria-label', 'Terminal input. Control, Shift and Arrow Up together leave the terminal.');
  let writable = false;
  const writes = createWrites(terminal, events.fellBehind);
  avoidHazards(terminal);
  answerNothing(terminal.parser);
  listen(host, terminal, events, closing.signal);
  keepKeys(terminal, () => writable, events);
  void followLinks(terminal, closing.signal);
  const fit = createFit(host, terminal, fitter, events.small);
  const images = createImages(terminal, closing.signal);
  followSettings(terminal, images, events.roomChanged, closing.signal);
  return {
    output: writes.output,
    keyframe: writes.keyframe,
    forgetImages: () => writes.after(images.clear),
    backlog: writes.backlog,
    after: writes.after,
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
    cursorRow: fit.cursorRow,
    type: (data) => terminal.input(data),
    paste: (text) => terminal.paste(text),
    selection: () => terminal.getSelection(),
    search: (found) => searchIn(terminal, found, closing.signal),
    applicationCursorKeys: () => terminal.modes.applicationCursorKeysMode,
    toBottom: () => terminal.scrollToBottom(),
    focus: () => terminal.focus(),
    dispose() {
      closing.abort();
      terminal.dispose();
    },
  };
}

function newTerminal(): Terminal {
  return new Terminal({
    scrollback: SCROLLBACK_LINES,
    fontFamily: FONTS,
    fontSize: FONT_PX,
    theme: currentTheme(),
    minimumContrastRatio: currentContrast(),
    cursorBlink: false,
    macOptionIsMeta: true,
    disableStdin: true,
    // What a search has found is marked.
    allowProposedApi: true,
  });
}

function listen(host: HTMLElement, terminal: Terminal, events: ScreenEvents, signal: AbortSignal): void {
  scrollByTouch(host, terminal, signal);
  terminal.onData((text) => events.typed(new TextEncoder().encode(text)));
  terminal.onBinary((text) => events.typed(Uint8Array.from(text, (c) => c.charCodeAt(0) & 0xff)));
  terminal.onTitleChange(events.title);
  terminal.onCursorMove(events.cursorMoved);
  terminal.onSelectionChange(() => events.selection(terminal.hasSelection()));
  const selected = () => settings().copyOnSelect && terminal.hasSelection() && events.copied(terminal.getSelection());
  // The terminal hears of it first.
  host.addEventListener('mouseup', () => setTimeout(selected), { signal });
}

function followSettings(terminal: Terminal, images: Images, roomChanged: () => void, signal: AbortSignal): void {
  const renderer = createRenderer(terminal, roomChanged, signal);
  const apply = () => {
    const { font, screenReader, renderer: wanted, images: shown } = settings();
    terminal.options.fontFamily = font === '' ? FONTS : `"${font}", ${FONTS}`;
    terminal.options.screenReaderMode = screenReader;
    renderer.use(wanted);
    images.use(shown);
  };
  apply();
  onThemeChange(() => {
    terminal.options.theme = currentTheme();
    terminal.options.minimumContrastRatio = currentContrast();
  }, signal);
  onSettings(() => {
    apply();
    roomChanged();
  }, signal);
}
