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
  /** `names` are those of the open ones, in their order; `isOver` tells of those that have ended. */
  show(desk: Desk, names: readonly string[], isOver: (place: Place) => boolean): void;
}

export function tabStrip(actions: TabStripActions): TabStrip {
  const tabs = h('ul', { class: 'tabs' });
  const tiles = h('div', { class: 'tilings', role: 'group', 'aria-label': 'Sessions side by side' });
  const element = h('nav', { class: 'tab-strip', 'aria-label': 'Open sessions', hidden: true, 'data-testid': 'tabs' }, tabs, tiles);
  let drawn = '';
  return {
    element,
    show(desk, names, isOver) {
      const signature = JSON.stringify([desk, names, desk.open.map(isOver)]);
      if (signature === drawn) return;
      drawn = signature;
      element.hidden = desk.open.length < (desk.active ? 2 : 1);
      const ofDesk = (place: Place, n: number): Tab => ({
        place,
        name: names[n] ?? '',
        isActive: isActive(desk, place),
        isOver: isOver(place),
      });
      tabs.replaceChildren(...desk.open.map((place, n) => tab(ofDesk(place, n), actions)));
      tiles.replaceChildren(...tilings.map((tiling) => tileButton(tiling, desk.tiling, actions)));
    },
  };
}

interface Tab {
  readonly place: Place;
  readonly name: string;
  readonly isActive: boolean;
  readonly isOver: boolean;
}

const isActive = ({ active }: Desk, place: Place) => active !== undefined && sameSession(active, place);

function tab({ place, name, isActive, isOver }: Tab, { close }: TabStripActions): HTMLElement {
  const goesOn = place.at === undefined && !isOver;
  const look = [isActive && 'active', isOver && 'over'].filter(Boolean).join(' ');
  return h(
    'li',
    { class: `tab ${look}`, 'data-testid': 'tab' },
    h('a', { href: fragmentOf(place), title: isOver ? `${name} (ended)` : name, 'aria-current': isActive && 'page' }, name),
    h(
      'button',
      {
        type: 'button',
        class: 'quiet',
        'aria-label': goesOn ? `Close ${name} here; it goes on` : `Close ${name}`,
        onclick: () => close(place),
      },
      '✕',
    ),
  );
}

function tileButton(tiling: Tiling, now: Tiling, { tile }: TabStripActions): HTMLElement {
  const name = tiling === 1 ? '1 session in view' : `${tiling} sessions in view`;
  const attributes = { 'aria-label': name, 'aria-pressed': String(tiling === now), 'data-testid': `tile-${tiling}` };
  return h('button', { type: 'button', class: 'quiet', ...attributes, onclick: () => tile(tiling) }, `${tiling}`);
}
