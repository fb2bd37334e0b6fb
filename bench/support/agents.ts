// Agents whose sessions print numbered lines: those of one end with their replica, those of the others go on elsewhere. Knows no gateway.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { numberedLines } from './lines.js';

/** Sessions of `mortal` end with their replica; those of `moves-<n>`, an instance each, go on elsewhere. */
export const instances = (sessions: number): string[] =>
  Array.from({ length: sessions }, (_, n) => (n % 2 === 0 ? 'mortal' : `moves-${n}`));

/** A line every `interval` seconds. Programs begin in `folder`, and end when there is a file `stop`. Resolves with the path for AGENTS_FILE. */
export async function writeAgents(folder: string, { sessions, interval }: { sessions: number; interval: number }): Promise<string> {
  const command = ['/bin/bash', '-c', numberedLines(interval)];
  const policy = { max_sessions: 10 * sessions };
  const agentOf = (instance: string) => ({
    name: instance,
    command,
    cwd: folder,
    policy: instance === 'mortal' ? policy : { ...policy, reattach: command },
  });
  const file = join(folder, 'agents.json');
  await writeFile(file, JSON.stringify({ agents: Object.fromEntries(instances(sessions).map((name) => [name, agentOf(name)])) }));
  return file;
}

/** Tells the programs to end. */
export const stopAgents = (folder: string): Promise<void> => writeFile(join(folder, 'stop'), '');
