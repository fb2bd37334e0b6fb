// How large a session is drawn: wholly in view, or large enough to be read and panned after the cursor. Knows no connection.
import type { FitAddon } from '@xterm/addon-fit';
import type { Terminal } from '@xterm/xterm';
import type { Size } from '../../../src/client/index.js';
import { settings } from '../settings/settings.js';

/** Font sizes in CSS pixels: the usual one, on a narrow window, the smallest that is read with ease, that is read at all, and the smallest of all. */
export const FONT_PX = 14;
const NARROW_FONT_PX = 12;
const READABLE_FONT_PX = 12;
const LEGIBLE_FONT_PX = 8;
const MIN_FONT_PX = 3;
const FONT_STEP_PX = 0.25;
/** Narrower windows, in CSS pixels, are taken for phones. */
const NARROW_PX = 640;

export interface Fit {
  /** The size that fills the window with the usual font. */
  windowSize(): Size | undefined;
  /** Draws the session anew after it or its window has another size. */
  apply(): void;
  /** Whether a session that is too large to be read as a whole is shown in part. */
  setReadable(on: boolean): void;
  /** Where the cursor's row is, in CSS pixels from the top left of the page. */
  cursorRow(): Box;
}

/** `small` is told whether the whole session can be shown in a font alone that is hard to read, and whether it is shown in part therefore. */
export type Small = (is: boolean, inPart: boolean) => void;

/** Until somebody chooses, a session is shown in part on a phone that could not show the whole of it in letters that are read at all. */
export function createFit(host: HTMLElement, terminal: Terminal, fitter: FitAddon, small: Small): Fit {
  let chosen: boolean | undefined;
  let inPart = false;
  let following = true;
  const screen = () => host.querySelector<HTMLElement>('.xterm-screen');
  const follow = () => {
    if (inPart && following) bringIntoView(host, cursorBox(terminal, screen()));
  };
  // One who pans away from the cursor is left alone until it is in view again.
  host.addEventListener('scroll', () => {
    following = isInView(host, cursorBox(terminal, screen()));
  });
  terminal.onCursorMove(follow);
  const apply = () => {
    host.classList.remove('pan', 'tall');
    const whole = largestWholeFont(terminal, fitter);
    const isSmall = whole < READABLE_FONT_PX;
    inPart = isSmall && (chosen ?? (isNarrow() && whole < LEGIBLE_FONT_PX));
    small(isSmall, inPart);
    if (!inPart) return;
    host.classList.add('pan');
    terminal.options.fontSize = READABLE_FONT_PX;
    host.classList.toggle('tall', (screen()?.offsetHeight ?? 0) > host.clientHeight);
    follow();
  };
  return {
    windowSize: () => sizeAtUsualFont(terminal, fitter),
    apply,
    cursorRow() {
      const { top, bottom } = cursorBox(terminal, screen());
      const { left, right } = screen()?.getBoundingClientRect() ?? { left: 0, right: 0 };
      const from = host.getBoundingClientRect().top - host.scrollTop;
      return { top: from + top, bottom: from + bottom, left, right };
    },
    setReadable(on) {
      chosen = on;
      following = true;
      apply();
    },
  };
}

export const isNarrow = (): boolean => window.innerWidth < NARROW_PX;
/** What the visitor chose, or what suits the window. */
const usualFont = () => settings().fontPx || (isNarrow() ? NARROW_FONT_PX : FONT_PX);

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

/** Bisects for the largest font, at most the usual one, in which the session is wholly in view; it is set, and returned in CSS pixels. */
function largestWholeFont(terminal: Terminal, fitter: FitAddon): number {
  const fits = (steps: number) => {
    terminal.options.fontSize = steps * FONT_STEP_PX;
    const room = proposed(fitter);
    return room === undefined || (room.cols >= terminal.cols && room.rows >= terminal.rows);
  };
  let low = MIN_FONT_PX / FONT_STEP_PX;
  let high = usualFont() / FONT_STEP_PX;
  if (fits(high)) return usualFont();
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle;
  }
  fits(low);
  return low * FONT_STEP_PX;
}

/** In CSS pixels, by its edges. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** From the top left of what is scrolled. */
function cursorBox({ buffer, cols, rows }: Terminal, screen: HTMLElement | null): Box {
  const width = (screen?.clientWidth ?? 0) / cols;
  const height = (screen?.clientHeight ?? 0) / rows;
  const left = buffer.active.cursorX * width;
  const top = buffer.active.cursorY * height;
  return { left, top, right: left + width, bottom: top + height };
}

function isInView(host: HTMLElement, { left, top, right, bottom }: Box): boolean {
  const { scrollLeft: x, scrollTop: y, clientWidth: width, clientHeight: height } = host;
  return left >= x - 1 && right <= x + width + 1 && top >= y - 1 && bottom <= y + height + 1;
}

/** As little as need be, but to the left edge where that shows the cursor too: lines begin there. */
function bringIntoView(host: HTMLElement, { left, top, right, bottom }: Box): void {
  const { clientWidth: width, clientHeight: height } = host;
  if (right <= width) host.scrollLeft = 0;
  else host.scrollLeft = Math.max(right - width, Math.min(left, host.scrollLeft));
  host.scrollTop = Math.max(bottom - height, Math.min(top, host.scrollTop));
}
