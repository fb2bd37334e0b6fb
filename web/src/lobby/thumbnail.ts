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

/** What was drawn of a session; undefined before that. */
export function thumbnail(gateway: Gateway): Thumbnail {
  const picture = h('img', { alt: '', hidden: true });
  const element = h('div', { class: 'thumbnail', 'aria-hidden': 'true', 'data-testid': 'thumbnail' }, picture);
  let drawn = '';
  return {
    element,
    async refresh({ instance_id, session_id, current_sequence }) {
      const theme = themeName();
      const wanted = `${theme} ${current_sequence}`;
      if (wanted === drawn || !isInView(element)) return;
      drawn = wanted;
      // A session that cannot be drawn now is drawn at another look.
      const svg = await gateway.picture(instance_id, session_id, theme).catch(() => undefined);
      if (svg === undefined) drawn = '';
      else picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
      picture.hidden = svg === undefined;
    },
  };
}

function isInView(element: HTMLElement): boolean {
  const { top, bottom, width } = element.getBoundingClientRect();
  return width > 0 && bottom > 0 && top < window.innerHeight;
}
