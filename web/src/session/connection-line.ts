// The state of the connection in words, with a countdown to the next try. Knows no connection.
import { h } from '../shared/dom.js';

type Phase = 'connecting' | 'live' | 'offline' | 'ended';

export interface ConnectionLine {
  readonly elements: readonly HTMLElement[];
  show(phase: Phase, words: string): void;
  /** Counts down the milliseconds until the next try; `why` tells what became of the last connection. */
  waiting(retryInMs: number, why: string): void;
  dispose(): void;
}

/** `retry` is offered while the connection waits for its next try. */
export function connectionLine(retry: () => void): ConnectionLine {
  const state = h('span', { class: 'connection', role: 'status', 'data-testid': 'state' });
  const again = h('button', { type: 'button', hidden: true, 'data-testid': 'retry', onclick: retry }, 'Try now');
  let timer: ReturnType<typeof setInterval> | undefined;
  const write = (phase: Phase, words: string, when = '') => {
    state.dataset.phase = phase;
    state.replaceChildren(words, h('span', { class: 'when' }, when));
    again.hidden = phase !== 'offline';
  };
  const stop = () => clearInterval(timer);
  return {
    elements: [state, again],
    show(phase, words) {
      stop();
      state.title = '';
      write(phase, words);
    },
    waiting(retryInMs, why) {
      stop();
      state.title = why;
      const at = Date.now() + retryInMs;
      const tick = () => write('offline', 'Offline', `: next try in ${Math.max(1, Math.ceil((at - Date.now()) / 1000))} s`);
      tick();
      timer = setInterval(tick, 1000);
    },
    dispose: stop,
  };
}
