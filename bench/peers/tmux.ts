// tmux: how fast a terminal multiplexer in C takes what a program prints, and draws it for nobody. Knows no question.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

/** Seconds that `cat` needs to print a file there. `folder` is for its socket. */
export function secondsInTmux(folder: string, file: string): number {
  const socket = join(folder, 'tmux');
  const tmux = (...args: string[]) =>
    execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  const signal = (channel: string) => `tmux -S ${socket} wait-for ${channel}`;
  const program = `stty raw -echo; ${signal('go')}; cat ${file}; ${signal('-S done')}`;
  tmux('new-session', '-d', '-x', '120', '-y', '30', program);
  const begun = performance.now();
  tmux('wait-for', '-S', 'go');
  tmux('wait-for', 'done');
  const seconds = (performance.now() - begun) / 1000;
  rmSync(socket, { force: true });
  return seconds;
}
