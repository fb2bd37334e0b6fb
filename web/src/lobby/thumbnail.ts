// A small picture of what a terminal shows now. Knows no list.
import type { SessionDescription } from '../../../src/session/session.js';
import { h } from '../shared/dom.js';
import type { Gateway } from '../shared/gateway.js';
import { themeName } from '../terminal/theme.js';

export interface Thumbnail {
  readonly element: HTMLElement;
  /** Asks for a new picture if the session has gone on, or the page has other colours, and the old one is in view. */
  refresh(session: SessionDescription): Promise<void>;
}

/** How the picture stands to the session; `stale`: it has gone on, and a new one is on its way. */
const words = { coming: 'The picture is coming…', fresh: '', stale: 'A newer one is coming…', none: 'There is no picture now' } as const;

export function thumbnail(gateway: Gateway): Thumbnail {
  const picture = h('img', { alt: '', hidden: true });
  const word = h('span', { class: 'word' });
  const element = h('div', { class: 'thumbnail', 'aria-hidden': 'true', 'data-testid': 'thumbnail' }, picture, word);
  let drawn = '';
  const show = (state: keyof typeof words) => {
    element.dataset.state = state;
    word.textContent = words[state];
  };
  show('coming');
  return {
    element,
    async refresh({ instance_id, session_id, current_sequence }) {
      const theme = themeName();
      const wanted = `${theme} ${current_sequence}`;
      if (wanted === drawn || !isInView(element)) return;
      drawn = wanted;
      show(picture.hidden ? 'coming' : 'stale');
      // A session that cannot be drawn now is drawn at another look.
      const svg = await gateway.picture(instance_id, session_id, theme).catch(() => undefined);
      if (svg === undefined) drawn = '';
      else picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
      picture.hidden = svg === undefined;
      show(svg === undefined ? 'none' : 'fresh');
    },
  };
}

function isInView(element: HTMLElement): boolean {
  const { top, bottom, width } = element.getBoundingClientRect();
  return width > 0 && bottom > 0 && top < window.innerHeight;
}
