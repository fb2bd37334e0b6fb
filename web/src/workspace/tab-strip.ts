// The open sessions as tabs, and how many of them are in view. Knows no session.
import { h } from '../shared/dom.js';
import { fragmentOf, type Place } from '../shared/place.js';
import { type Desk, sameSession, type Tiling, tilings } from './desk.js';

export interface TabStripActions {
  close(place: Place): void;
  tile(tiling: Tiling): void;
}

export interface TabStrip {
  readonly element: HTMLElement;
  show(desk: Desk, titleOf: (place: Place) => string): void;
}

export function tabStrip(actions: TabStripActions): TabStrip {
  const tabs = h('ul', { class: 'tabs' });
  const tiles = h('div', { class: 'tilings', role: 'group', 'aria-label': 'Sessions side by side' });
  const element = h('nav', { class: 'tab-strip', 'aria-label': 'Open sessions', hidden: true, 'data-testid': 'tabs' }, tabs, tiles);
  let drawn = '';
  return {
    element,
    show(desk, titleOf) {
      const signature = JSON.stringify([desk, desk.open.map(titleOf)]);
      if (signature === drawn) return;
      drawn = signature;
      element.hidden = desk.open.length < (desk.active ? 2 : 1);
      tabs.replaceChildren(...desk.open.map((place) => tab(place, titleOf(place), desk, actions)));
      tiles.replaceChildren(...tilings.map((tiling) => tileButton(tiling, desk.tiling, actions)));
    },
  };
}

function tab(place: Place, title: string, { active }: Desk, { close }: TabStripActions): HTMLElement {
  const isActive = active !== undefined && sameSession(active, place);
  const isHistory = place.at !== undefined;
  const name = isHistory ? `History: ${title}` : title;
  const closes = isHistory ? `Close ${name}` : `Close ${name} here; it goes on`;
  return h(
    'li',
    { class: isActive ? 'tab active' : 'tab', 'data-testid': 'tab' },
    h('a', { href: fragmentOf(place), title: name, 'aria-current': isActive && 'page' }, name),
    h('button', { type: 'button', class: 'quiet', 'aria-label': closes, onclick: () => close(place) }, '✕'),
  );
}

function tileButton(tiling: Tiling, now: Tiling, { tile }: TabStripActions): HTMLElement {
  const name = tiling === 1 ? '1 session in view' : `${tiling} sessions in view`;
  const attributes = { 'aria-label': name, 'aria-pressed': String(tiling === now), 'data-testid': `tile-${tiling}` };
  return h('button', { type: 'button', class: 'quiet', ...attributes, onclick: () => tile(tiling) }, `${tiling}`);
}
