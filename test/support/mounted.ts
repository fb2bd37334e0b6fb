// Processes that see a small disk of their own. Knows no gateway.
import { execFileSync } from 'node:child_process';

/** How a mount of our own can be made here, as arguments of `unshare`; undefined where it cannot. */
export function unsharing(): string[] | undefined {
  return [['-m'], ['-Urm']].find((flags) => {
    try {
      execFileSync('unshare', [...flags, 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}
