// Where and with what a bench ran, in one line. Knows no figure.
import { execFileSync } from 'node:child_process';
import { cpus, loadavg, release } from 'node:os';
import { ttydVersion } from '../peers/ttyd.js';

export function machine(): string {
  const [{ model } = { model: 'unknown' }] = cpus();
  const load = loadavg().map((share) => share.toFixed(1));
  const day = new Date().toISOString().slice(0, 10);
  return `${day}, ${cpus().length} × ${model.trim()}, Linux ${release()}, Node ${process.versions.node}, ${ttydVersion()}, ${versionOf('tmux', '-V')}, load ${load.join(' ')}`;
}

function versionOf(program: string, ...args: string[]): string {
  try {
    return execFileSync(program, args, { encoding: 'utf8' }).trim();
  } catch {
    return `no ${program}`;
  }
}
