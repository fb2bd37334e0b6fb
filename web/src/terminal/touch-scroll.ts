// Scrolls back with a finger, which the terminal itself does not. Knows no connection.
import type { Terminal } from '@xterm/xterm';

/** Until the signal. One that is shown in part, and is higher than its window, is panned by the browser instead. */
export function scrollByTouch(host: HTMLElement, terminal: Terminal, signal: AbortSignal): void {
  let from: number | undefined;
  const rowHeight = () => (host.querySelector('.xterm-screen')?.clientHeight ?? 0) / terminal.rows;
  const start = ({ touches }: TouchEvent) => {
    from = touches.length === 1 && !host.classList.contains('tall') ? touches[0]?.clientY : undefined;
  };
  const move = ({ touches }: TouchEvent) => {
    const height = rowHeight();
    if (from === undefined || touches[0] === undefined || height === 0) return;
    const lines = Math.trunc((from - touches[0].clientY) / height);
    terminal.scrollLines(lines);
    from -= lines * height;
  };
  host.addEventListener('touchstart', start, { passive: true, signal });
  host.addEventListener('touchmove', move, { passive: true, signal });
}
