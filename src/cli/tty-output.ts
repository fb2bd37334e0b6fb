// What the kernel does to what is written on a terminal: nothing, while a session is shown on it. Knows no session.
import { spawnSync } from 'node:child_process';

/** Raw mode of Node is for the keyboard alone: it leaves the kernel turning LF into CR LF, which breaks programs that move down by LF. */
export class TtyOutput {
  readonly #fd: number;
  #before: string | undefined;

  /** `fd` of a terminal. */
  constructor(fd: number) {
    this.#fd = fd;
  }

  /** May be called again, after others have set the terminal otherwise. Where there is no stty, all stays as it is. */
  leaveAlone(): void {
    this.#before ??= this.#stty('-g');
    if (this.#before) this.#stty('-opost');
  }

  restore(): void {
    if (this.#before) this.#stty(this.#before);
    this.#before = undefined;
  }

  #stty(setting: string): string | undefined {
    const { status, stdout } = spawnSync('stty', [setting], { stdio: [this.#fd, 'pipe', 'ignore'], encoding: 'utf8' });
    return status === 0 ? stdout.trim() : undefined;
  }
}
