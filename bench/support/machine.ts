// Where and with what a bench ran, in one line. Knows no figure.
import { execFileSync } from 'node:child_process';
import { cpus, loadavg, release } from 'node:os';
import { ttydVersion } from '../peers/ttyd.js';

/** `beside` are programs with their versions. */
export function machineWith(...beside: readonly string[]): string {
  const [{ model } = { model: 'unknown' }] = cpus();
  const load = loadavg().map((share) => share.toFixed(1));
  const day = new Date().toISOString().slice(0, 10);
  const system = [`${cpus().length} × ${model.trim()}`, `Linux ${release()}`, `Node ${process.versions.node}`];
  return [day, ...system, ...beside, `load ${load.join(' ')}`].join(', ');
}

export const machine = (): string => machineWith(ttydVersion(), versionOf('tmux', '-V'));

function versionOf(program: string, ...args: string[]): string {
  try {
    return execFileSync(program, args, { encoding: 'utf8' }).trim();
  } catch {
    return `no ${program}`;
  }
}
