// What a visitor chose on this device, kept by the browser. Knows no view.
import { readSettings, type Settings } from './choices.js';

const KEY = 'pty-gateway.settings';

let now = readSettings(localStorage.getItem(KEY));
const listeners = new Set<() => void>();
// Another tab may have changed them.
window.addEventListener('storage', ({ key, newValue }) => key === KEY && become(readSettings(newValue)));

export const settings = (): Settings => now;

export function change(some: Partial<Settings>): void {
  become(readSettings(JSON.stringify({ ...now, ...some })));
  localStorage.setItem(KEY, JSON.stringify(now));
}

/** Tells of each change until the signal. */
export function onSettings(listener: () => void, signal: AbortSignal): void {
  listeners.add(listener);
  signal.addEventListener('abort', () => listeners.delete(listener));
}

function become(next: Settings): void {
  now = next;
  for (const listener of listeners) listener();
}
