// The page's terminal as a stage for what is played. Knows no clock.
import type { Stage } from '../../../src/playback/player.js';
import type { Size } from '../../../src/playback/recording.js';
import { writeClipboard } from '../shared/clipboard.js';
import { createScreen, type Screen } from '../terminal/screen.js';
import type { Search } from '../terminal/search.js';
import type { Sought } from './search.js';

/** Bytes that may wait to be drawn before time stands still. */
const BUSY_BYTES = 512 * 1024;
/** Ends whatever sequence was cut, and forgets the lines above: they belong to another place. */
const FORGET = new TextEncoder().encode('\x18\x1b[3J');
const BLANK = new TextEncoder().encode('\x18\x1bc');

export interface ScreenStage extends Stage {
  readonly screen: Screen;
  /** Marks a text wherever it is on the screen, now and as it goes on; undefined: nothing is marked. */
  mark(sought: Sought | undefined): void;
}

export interface StageEvents {
  /** Whether the whole of it can be shown only in a font that is hard to read. */
  small(is: boolean): void;
  /** The terminal has this size now. */
  sized(size: Size): void;
}

export function createStage(host: HTMLElement, { small, sized }: StageEvents): ScreenStage {
  const nothing = () => {};
  const resize = (size: Size) => {
    screen.resize(size);
    sized(size);
  };
  const screen = createScreen(host, {
    typed: nothing,
    title: nothing,
    selection: nothing,
    fellBehind: nothing,
    deaf: nothing,
    small,
    left: nothing,
    searched: nothing,
    cursorMoved: nothing,
    copied: (text) => void writeClipboard(text).catch(nothing),
    roomChanged: () => screen.shrinkToFit(),
  });
  return {
    screen,
    get isBusy() {
      return screen.backlog() > BUSY_BYTES;
    },
    blank(size) {
      screen.forgetImages();
      screen.keyframe(BLANK);
      resize(size);
    },
    picture(bytes, size) {
      resize(size);
      screen.forgetImages();
      screen.output(FORGET);
      screen.keyframe(bytes);
    },
    output: (bytes) => screen.output(bytes),
    resize,
    mark: marker(screen),
  };
}

/** The search is loaded when it is first wanted. */
function marker(screen: Screen): ScreenStage['mark'] {
  let search: Promise<Search> | undefined;
  return (sought) => {
    if (sought) search ??= screen.search(() => {});
    void search?.then((made) => screen.after(() => (sought ? made.last(sought.text, sought.line) : made.clear())));
  };
}
