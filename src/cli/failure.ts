// How a command fails: a sentence or JSON of one shape, and an exit code (docs/cli.md, "Exit codes"). Knows no command.
import type { Command } from 'commander';

/** What a command may end with beside 0, a program's own code, and 128 + a signal. */
export const exits = {
  /** It could not be done. */
  failed: 1,
  /** Somebody else has control: later it may be done (`EX_TEMPFAIL` of sysexits.h). */
  busy: 75,
  /** It did not happen in time (as `timeout` of coreutils). */
  timeout: 124,
  /** A failure of a command whose 1 has a meaning of its own. */
  failedElse: 255,
} as const;

interface Details {
  /** A code of the gateway (pty-ws §6), or one of ours: USAGE, UNREACHABLE, NOT_FOUND, BUSY, ENDED, TIMEOUT, FAILED. */
  readonly code?: string;
  readonly exitCode?: number;
}

/** Something is wrong with what was asked, or cannot be done: one sentence that says what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code: string;
  /** Undefined: whatever the command ends with when it fails. */
  readonly exitCode: number | undefined;

  constructor(message: string, { code = 'FAILED', exitCode }: Details = {}) {
    super(message);
    this.code = code;
    this.exitCode = exitCode;
  }
}

/** Does it, and sets the exit code: 0 unless the work sets another, or `failure` with one sentence on stderr, unless the error has its own. */
export async function done(work: () => Promise<void>, failure: number = exits.failed): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    process.stderr.write(told(error.code, error.message));
    process.exitCode = error.exitCode ?? failure;
  }
}

/** What commander itself refuses is told in the same shape. For a command, and for those that are added to it later. */
export function withFailures(command: Command): Command {
  if (!wantsJson()) return command.showHelpAfterError('--help tells of all that can be said');
  return command.configureOutput({ outputError: (text, write) => write(told('USAGE', text.replace(/^error: /, '').trim())) });
}

/** A command that is used wrongly ends with this instead of 1. */
export function usageExits(command: Command, code: number): Command {
  return command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : code));
}

const told = (code: string, message: string): string =>
  wantsJson() ? `${JSON.stringify({ error: { code, message } })}\n` : `pty-gateway: ${message}\n`;

/** `--json` among the options; what stands behind `--` is none. */
function wantsJson(): boolean {
  const end = process.argv.indexOf('--');
  return process.argv.slice(0, end < 0 ? undefined : end).includes('--json');
}
