// `pty-gateway audit verify`: whether audit files are as they were written (contract, Audit lines). Knows no gateway.
import type { Command } from 'commander';
import { type Verdict, verify } from '../audit/chain.js';
import { chainFiles } from '../audit/rotation.js';
import { ConfigError, EXIT_CONFIG, readConfig } from '../config.js';

/** Registers the command. */
export function audit(program: Command): void {
  program
    .command('audit')
    .description('look into the record of who did what')
    .command('verify [file]')
    .description('follow the chain of an audit file (default: AUDIT_FILE), and of those that were put aside before it, from its first line')
    .option('--json', 'what was found, as JSON')
    .addHelpText(
      'after',
      '\nThe exit code is 0 if every line is as it was written, 1 if not, 2 if a file cannot be read, 78 for a wrong setting.',
    )
    .action(async (file: string | undefined, { json }: { readonly json?: true }) => {
      process.exitCode = await run(file, json ?? false);
    });
}

async function run(file: string | undefined, json: boolean): Promise<number> {
  try {
    const verdict = await verify(await chainFiles(file ?? readConfig(process.env).auditFile));
    process.stdout.write(json ? `${JSON.stringify(verdict)}\n` : verdict.whole ? whole(verdict) : '');
    if (!verdict.whole && !json) process.stderr.write(`pty-gateway: ${verdict.file}: line ${verdict.line} ${verdict.why}\n`);
    return verdict.whole ? 0 : 1;
  } catch (error) {
    process.stderr.write(`pty-gateway: ${(error as Error).message}\n`);
    return error instanceof ConfigError ? EXIT_CONFIG : 2;
  }
}

function whole({ lines, first, last, torn }: Extract<Verdict, { whole: true }>): string {
  const from = first > 1 ? `; what came before line ${first} is not here` : '';
  const unfinished = torn === undefined ? '' : `\nThe last line of ${torn} is unfinished, as a crash leaves it; it is not counted.`;
  return `${lines} lines, all as they were written, up to line ${last.n} (${last.hash})${from}.${unfinished}\n`;
}
