// The buttons of a playback, and where one is. Knows no player.
import { clockText, SPEEDS } from '../../../src/playback/clock.js';
import { h } from '../shared/dom.js';
import { wallText } from './track.js';

export interface ControlActions {
  toggle(): void;
  step(by: 1 | -1): void;
  speed(speed: number): void;
  /** Whether long waits are cut. */
  skip(on: boolean): void;
  readable(on: boolean): void;
}

export interface Controls {
  readonly element: HTMLElement;
  readonly play: HTMLButtonElement;
  playing(on: boolean): void;
  speed(speed: number): void;
  small(is: boolean): void;
  /** Whether what is too large to be read as a whole is shown in part. */
  readable(on: boolean): void;
  /** `wall` is milliseconds since the epoch, if known. */
  position(at: number, duration: number, wall: number | undefined): void;
}

export function controls(actions: ControlActions, skips: boolean, ...more: readonly HTMLElement[]): Controls {
  const play = h('button', { type: 'button', class: 'primary', 'data-testid': 'play', title: 'Space', onclick: actions.toggle }, 'Play');
  const speeds = h(
    'select',
    { 'aria-label': 'Speed', 'data-testid': 'speed' },
    ...SPEEDS.map((speed) => h('option', { value: speed, selected: speed === 1 }, `${speed}×`)),
  );
  speeds.addEventListener('change', () => actions.speed(Number(speeds.value)));
  const time = h('span', { class: 'time', 'data-testid': 'time' });
  const wall = h('span', { class: 'time wall', 'data-testid': 'wall' });
  const readable = choice('Readable', 'readable', false, actions.readable);
  readable.hidden = true;
  return {
    element: h(
      'div',
      { class: 'controls' },
      stepButton('‹', 'One step back', ',', () => actions.step(-1)),
      play,
      stepButton('›', 'One step on', '.', () => actions.step(1)),
      time,
      wall,
      speeds,
      choice('Skip waits', 'skip', skips, actions.skip),
      readable,
      ...more,
    ),
    play,
    playing(on) {
      play.textContent = on ? 'Pause' : 'Play';
    },
    speed(speed) {
      speeds.value = `${speed}`;
    },
    small(is) {
      readable.hidden = !is;
    },
    readable(on) {
      const box = readable.querySelector('input');
      if (box) box.checked = on;
      actions.readable(on);
    },
    position(at, duration, since) {
      time.textContent = `${clockText(at)} / ${clockText(duration)}`;
      wall.textContent = since === undefined ? '' : wallText(since);
    },
  };
}

const stepButton = (text: string, label: string, key: string, run: () => void): HTMLElement =>
  h('button', { type: 'button', class: 'quiet', 'aria-label': label, title: `${label} (${key})`, onclick: run }, text);

function choice(text: string, id: string, checked: boolean, set: (on: boolean) => void): HTMLElement {
  const box = h('input', { type: 'checkbox', checked, 'data-testid': id });
  box.addEventListener('change', () => set(box.checked));
  return h('label', { class: 'choice' }, box, text);
}
