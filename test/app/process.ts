// Runs the command as a person would, from its sources. Knows no assertion.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface Run {
  readonly child: ChildProcess;
  readonly dataDir: string;
  out: string;
  err: string;
  /** Resolves when the text, on stdout, matches. */
  prints(pattern: RegExp): Promise<RegExpExecArray>;
  readonly exit: Promise<{ code: number | null; signal: string | null }>;
}

/** The command with these arguments. */
export const run = (args: string[], env: NodeJS.ProcessEnv = {}) => start(['src/main.ts', ...args], env);

/** A program of a test's own, in the project's folder. */
export const runScript = (source: string) => start(['--input-type=module', '--eval', source], {});

function start(args: string[], env: NodeJS.ProcessEnv): Run {
  const dataDir = env.DATA_DIR ?? mkdtempSync(path.join(tmpdir(), 'serve-'));
  const child = spawn(process.execPath, ['--import', 'tsx', ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, SHELL: '/bin/sh', DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let wake = () => {};
  const result: Run = {
    child,
    dataDir,
    out: '',
    err: '',
    prints: async (pattern) => {
      for (;;) {
        const match = pattern.exec(result.out);
        if (match) return match;
        if (child.exitCode !== null)
          throw new Error(`the process ended (${child.exitCode}) before it printed ${pattern}: ${result.out}${result.err}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    exit: new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal }))),
  };
  child.stdout?.on('data', (data) => {
    result.out += data;
    wake();
  });
  child.stderr?.on('data', (data) => {
    result.err += data;
  });
  child.on('close', () => wake());
  return result;
}
