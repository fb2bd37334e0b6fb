// The line along which one moves: a slider, and marks for what happened and what was found. Knows no player.
import { clockText } from '../../../src/playback/clock.js';
import type { Timeline } from '../../../src/playback/timeline.js';
import { h } from '../shared/dom.js';

export interface Mark {
  /** Milliseconds since the beginning. */
  readonly at: number;
  readonly kind: string;
  readonly text: string;
}

export interface Track {
  readonly element: HTMLElement;
  timeline(timeline: Timeline): void;
  /** Of one kind, instead of those before. */
  marks(kind: 'happened' | 'found', marks: readonly Mark[]): void;
  position(at: number): void;
}

export function track(seek: (at: number) => void): Track {
  const slider = h('input', { type: 'range', min: 0, max: 0, step: 'any', value: 0, 'aria-label': 'Position', 'data-testid': 'position' });
  const happened = h('div', { class: 'ticks', 'aria-hidden': 'true' });
  const found = h('div', { class: 'ticks found', 'aria-hidden': 'true' });
  let duration = 0;
  let startedAt: number | undefined;
  slider.addEventListener('input', () => seek(Number(slider.value)));
  return {
    element: h('div', { class: 'track' }, happened, found, slider),
    timeline(timeline) {
      ({ duration, startedAt } = timeline);
      slider.max = `${duration}`;
    },
    marks(kind, marks) {
      const place = kind === 'happened' ? happened : found;
      place.replaceChildren(...marks.map((mark) => tick(mark, duration, seek)));
    },
    position(at) {
      slider.value = `${at}`;
      const words = placeText(at, duration, startedAt);
      // A screen reader repeats what changes: once a second is enough.
      if (slider.getAttribute('aria-valuetext') !== words) slider.setAttribute('aria-valuetext', words);
      slider.style.setProperty('--done', `${duration > 0 ? (100 * at) / duration : 0}%`);
    },
  };
}

function tick({ at, kind, text }: Mark, duration: number, seek: (at: number) => void): HTMLElement {
  const mark = h('span', { class: `tick ${kind}`, title: `${clockText(at)} ${text}`, 'data-testid': 'mark', onclick: () => seek(at) });
  mark.style.left = `${duration > 0 ? (100 * Math.min(at, duration)) / duration : 0}%`;
  return mark;
}

/** `0:12 of 5:00, 14:03:22`. */
function placeText(at: number, duration: number, startedAt: number | undefined): string {
  const wall = startedAt === undefined ? '' : `, ${wallText(startedAt + at)}`;
  return `${clockText(at)} of ${clockText(duration)}${wall}`;
}

/** The time of day, with the date if that is another day. */
export function wallText(ms: number): string {
  const then = new Date(ms);
  const time = then.toLocaleTimeString();
  return then.toDateString() === new Date().toDateString() ? time : `${then.toLocaleDateString()} ${time}`;
}
