// The commands of a document, and a shell that runs them. Knows no document.
import { spawn } from 'node:child_process';

/** What stands between fences of that language, one after the other. */
export const blocksOf = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'gm'))].map((m) => m[1] as string);

/** Runs a script in a shell, in a process group of its own that ends with it. */
export function shell(script: string, cwd: string, env: Record<string, string>): Promise<{ code: number | null; out: string }> {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-euo', 'pipefail', '-c', script], { cwd, detached: true, env: { ...process.env, ...env } });
    let out = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (out += data));
    child.on('exit', (code) => {
      endGroup(child.pid);
      resolve({ code, out });
    });
  });
}

/** What is left of it, if anything is. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid) process.kill(-pid, 'SIGTERM');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
