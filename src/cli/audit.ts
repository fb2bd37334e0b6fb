// `pty-gateway audit verify`: whether audit files are as they were written (contract, Audit lines). Knows no gateway.
import { createPublicKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { type Verdict, verify } from '../audit/chain.js';
import { chainFiles } from '../audit/rotation.js';
import { ConfigError, EXIT_CONFIG, readConfig } from '../config.js';

interface AuditOptions {
  readonly key?: string;
  readonly json?: true;
}

/** Registers the command. */
export function audit(program: Command): void {
  program
    .command('audit')
    .description('look into the record of who did what')
    .command('verify [file]')
    .description('follow the chain of an audit file (default: AUDIT_FILE), and of those that were put aside before it, from its first line')
    .option(
      '--key <file>',
      'the PEM of the public (or private) key of AUDIT_SIGNING_KEY: checkpoints must be signed with it, and there must be some',
    )
    .option('--json', 'what was found, as JSON')
    .addHelpText(
      'after',
      '\nThe exit code is 0 if every line is as it was written, 1 if not, 2 if a file cannot be read, 78 for a wrong setting.',
    )
    .action(async (file: string | undefined, options: AuditOptions) => {
      process.exitCode = await run(file, options);
    });
}

async function run(file: string | undefined, { key, json }: AuditOptions): Promise<number> {
  try {
    const verdict = await verify(
      await chainFiles(file ?? readConfig(process.env).auditFile),
      key === undefined ? undefined : publicKey(key),
    );
    process.stdout.write(json ? `${JSON.stringify(verdict)}\n` : verdict.whole ? whole(verdict) : '');
    if (!verdict.whole && !json) process.stderr.write(`pty-gateway: ${verdict.file}: line ${verdict.line} ${verdict.why}\n`);
    return verdict.whole && !isUnsigned(verdict) ? 0 : 1;
  } catch (error) {
    process.stderr.write(`pty-gateway: ${(error as Error).message}\n`);
    return error instanceof ConfigError ? EXIT_CONFIG : 2;
  }
}

/** Whoever has a key expects its signatures: a chain without any may have been written anew from its first line. */
function isUnsigned({ signed, lines }: Extract<Verdict, { whole: true }>): boolean {
  return signed === 0 && lines > 0;
}

function publicKey(file: string): KeyObject {
  try {
    return createPublicKey(readFileSync(file));
  } catch (error) {
    throw new Error(`--key ${file} cannot be used: ${(error as Error).message}`, { cause: error });
  }
}

function whole({ lines, first, last, signed, torn }: Extract<Verdict, { whole: true }>): string {
  const from = first > 1 ? `; what came before line ${first} is not here` : '';
  const unfinished = torn === undefined ? '' : `\nThe last line of ${torn} is unfinished, as a crash leaves it; it is not counted.`;
  const upTo = signed === undefined ? '' : signed === 0 ? '; no checkpoint is signed' : `; signed up to line ${signed}`;
  return `${lines} lines, all as they were written, up to line ${last.n} (${last.hash})${from}${upTo}.${unfinished}\n`;
}
