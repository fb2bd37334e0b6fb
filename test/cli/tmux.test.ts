// The command line as a person has it in tmux: their terminal is theirs again however it ends, and their history holds nothing of ours.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { freePort } from '../support/free-port.js';
import { needs } from '../support/needs.js';
import { type RunningGateway, startGateway } from '../support/running-gateway.js';
import { command } from './person.js';
import { TmuxWindow } from './tmux.js';

needs('tmux', 'vim')('in tmux', () => {
  let gateway: RunningGateway;
  let data: string;
  let env: Record<string, string>;
  const windows: TmuxWindow[] = [];

  beforeAll(async () => {
    data = mkdtempSync(path.join(tmpdir(), 'tmux-data-'));
    const settings = { AUTH_JWT_SECRET: 'a secret of the tests, long enough for HS256', DATA_DIR: data, PORT: String(await freePort()) };
    gateway = await startGateway(settings);
    env = { ...settings, PTY_GATEWAY_URL: gateway.invitation };
  }, 60_000);
  afterEach(() => {
    for (const window of windows.splice(0)) window.close();
  });
  afterAll(async () => {
    await gateway.stop();
    rmSync(data, { recursive: true, force: true });
  });

  function shell(size?: { cols: number; rows: number }): TmuxWindow {
    const window = new TmuxWindow(env, size);
    windows.push(window);
    return window;
  }

  const begin = (label: string) =>
    execFileSync(process.execPath, [command, 'new', 'shell', '--label', label], {
      env: { PATH: process.env.PATH, ...env },
      encoding: 'utf8',
    }).trim();

  /** Attaches, in a shell that says afterwards how it ended and whether the terminal is set as before. */
  async function attached(label: string): Promise<{ window: TmuxWindow; modes: string }> {
    const window = shell();
    await window.sees(/^sh>$/m);
    const modes = window.modes();
    window.types(
      `clear; stty -g >before; exec 3>pid; sh -c 'echo $$ >&3; exec "$@"' sh ${process.execPath} ${command} attach ${label}; ended`,
    );
    await window.sees(/attached with control/);
    return { window, modes };
  }

  it('attach draws and types, follows the window, and leaves the terminal and its history as they were', async () => {
    begin('desk');
    const { window, modes } = await attached('desk');
    window.types('stty size');
    await window.sees(/^24 80$/m);
    await window.seesNo(/detaches/);
    window.resizes(100, 30);
    window.types('stty size');
    await window.sees(/^30 100$/m);
    window.presses('C-]', 'd');
    await window.sees(/^30 100\n\$\n\[pty-gateway\] detached; the session goes on\ncode 0\nas before\nsh>$/m);
    expect(window.modes()).toBe(modes);
    expect(window.history().match(/^24 80$/gm)).toHaveLength(1);
    expect(window.history()).not.toMatch(/attached with control|\S\n\n\n+\S/);
  });

  it('attach stops and goes on for who has control, and ends with the exit code of the program', async () => {
    begin('job');
    const { window, modes } = await attached('job');
    window.types('echo "first $((1 + 1))"');
    await window.sees(/^first 2$/m);
    window.presses('C-]', 'C-z');
    await window.sees(/Stopped[^\n]*\n(.*\n)*sh>$/m);
    expect(window.modes()).toBe(modes);
    window.types('stty -a | grep -o " icanon"; fg; echo "code $?"');
    await window.sees(/^first 2\n\$$/m);
    window.types('echo again; exit 7');
    await window.sees(/again\n(.*\n)*\[pty-gateway\] the session has ended: exit code 7\ncode 7\nsh>$/m);
    expect(window.history()).toContain(' icanon');
    expect(window.modes()).toBe(modes);
  });

  it('attach that is killed in an editor gives back the screen, the modes and the colours', async () => {
    begin('editor');
    const { window, modes } = await attached('editor');
    window.types('vim -u NONE -c "set mouse=a"');
    await window.sees(/Vi IMproved/);
    expect(window.modes()).not.toBe(modes);
    process.kill(Number(readFileSync(path.join(window.folder, 'pid'), 'utf8')), 'SIGTERM');
    await window.sees(/code 143\nas before\nsh>$/m);
    expect(window.modes()).toBe(modes);
    expect(window.screen()).not.toContain('Vi IMproved');
  });

  it('a script of one line each drives a session that somebody watches, shares it, and plays it again', { timeout: 90_000 }, async () => {
    const [script, watcher] = [shell({ cols: 120, rows: 30 }), shell()];
    watcher.types('pty-gateway sessions --watch');
    script.types('ID=$(pty-gateway new shell --label greeting)');
    await watcher.sees(/^[0-9a-f-]{13,} +shell +running .* greeting$/m);
    script.types(
      `AT=$(pty-gateway send greeting 'read -p "Name? " name; echo "hello $name"' -k Enter); pty-gateway wait-for greeting '^Name. $' --since $AT`,
    );
    await script.sees(/^\d+ +Name\? +Name\?$/m);
    script.types(
      'pty-gateway send greeting you -k Enter; pty-gateway wait-for greeting "^hello you$"; pty-gateway screen greeting | sed -n 2,4p',
    );
    await script.sees(/^Name\? you\nhello you\n\$$/m);
    script.types('clear; pty-gateway share greeting; pty-gateway end greeting; pty-gateway play -i 0.1 $ID; echo played');
    await script.sees(/^http:\/\/\S+#token=/m);
    await watcher.seesNo(/greeting/);
    watcher.presses('C-c');
    await watcher.sees(/^No session runs [\s\S]*^sh>$|^SESSION [\s\S]*^sh>$/m);
    await script.sees(/hello you[\s\S]*played/);
  });

  it('attach outlives its gateway, says so, and tells the end of the session when the gateway is back', { timeout: 60_000 }, async () => {
    begin('lost');
    const { window, modes } = await attached('lost');
    process.kill(gateway.pid, 'SIGKILL');
    await window.sees(/next try in \d+ s; ctrl-\] d detaches/);
    gateway = await startGateway(env);
    await window.sees(/\[pty-gateway\] the session has ended: .*\ncode 255\nas before\nsh>$/m);
    expect(window.modes()).toBe(modes);
  });
});
