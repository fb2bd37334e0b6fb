// Real terminals for the tests of this folder, and what they printed.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { childEnvironment } from '../../src/terminal/environment.js';
import { spawnTerminal } from '../../src/terminal/pty.js';
import type { Command, Exit, Terminal } from '../../src/terminal/terminal.js';

/** Some of what is claimed can be seen in Linux's /proc alone, or is set by its stty alone. */
export const linux = process.platform === 'linux';

export interface Run {
  readonly terminal: Terminal;
  readonly exit: Promise<Exit>;
  /** All that was printed so far. */
  bytes(): Buffer;
  text(): string;
  /** Resolves when `text` has been printed. */
  printed(text: string): Promise<void>;
  /** `output` and `exit`, in the order in which they came. */
  readonly events: readonly ('output' | 'exit')[];
}

export const command = (argv: readonly string[], more: Partial<Command> = {}): Command => ({
  argv,
  cwd: tmpdir(),
  env: childEnvironment({}),
  cols: 80,
  rows: 24,
  ...more,
});

/** Starts a program; it is ended with the test. */
export async function run(argv: readonly string[], more: Partial<Command> = {}): Promise<Run> {
  const parts: Uint8Array[] = [];
  const events: ('output' | 'exit')[] = [];
  const waiting = new Set<() => void>();
  let exited: (exit: Exit) => void = () => {};
  const exit = new Promise<Exit>((resolve) => {
    exited = resolve;
  });
  const terminal = await spawnTerminal(command(argv, more), {
    output(bytes) {
      events.push('output');
      parts.push(bytes);
      for (const check of waiting) check();
    },
    exit(how) {
      events.push('exit');
      exited(how);
    },
  });
  onTestFinished(async () => {
    terminal.resume();
    terminal.end(0);
    await exit;
  });
  const bytes = () => Buffer.concat(parts);
  const text = () => bytes().toString();
  const printed = (wanted: string) =>
    new Promise<void>((resolve) => {
      const check = () => {
        if (!text().includes(wanted)) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });
  return { terminal, exit, bytes, text, printed, events };
}

/** A shell script. */
export const sh = (script: string, more: Partial<Command> = {}): Promise<Run> => run(['/bin/sh', '-c', script], more);

/** A folder that goes with the test. */
export function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'pty-test-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Milliseconds pass. For showing that something does not happen, never for waiting until something has. */
export const pass = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Looks every few milliseconds until it is so. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pass(5);
}
