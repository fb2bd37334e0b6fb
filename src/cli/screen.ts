// `pty-gateway screen`: what a session's terminal shows now. Knows HTTP answers (contract, GET …/screen), no terminal.
import { writeFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { CommandError, done } from './failure.js';
import { type GatewayOptions, withGateway } from './gateway.js';
import { askBytes } from './http.js';
import { HOW_TO_NAME, type NamedSession, namedSession } from './named-session.js';

interface ScreenOptions extends GatewayOptions {
  readonly format: string;
  readonly theme: string;
  readonly output?: string;
  readonly json?: true;
}

/** Registers the command. */
export function screen(program: Command): void {
  withGateway(program.command('screen').description("print what a session's terminal shows now"))
    .argument('<session>', HOW_TO_NAME)
    .addOption(new Option('--format <format>', 'in which form').choices(['text', 'ansi', 'json', 'svg', 'png']).default('text'))
    .addOption(new Option('--theme <theme>', 'of a picture').choices(['dark', 'light']).default('dark'))
    .option('-o, --output <file>', 'write it there')
    .option('--json', 'as --format json')
    .addHelpText('after', '\nThe exit code is 0, or 1 for every failure.')
    .action((name: string, options: ScreenOptions) => done(() => run(name, options)));
}

async function run(name: string, { format: asked, theme, output, json, ...options }: ScreenOptions): Promise<void> {
  const format = json ? 'json' : asked;
  if (format === 'png' && output === undefined && process.stdout.isTTY)
    throw new CommandError('a picture is nothing for a terminal; say with -o where it goes', { code: 'USAGE' });
  const session = await namedSession(name, options);
  const shown = format === 'text' ? await screenText(session) : await screenAs(session, { format, theme });
  if (output === undefined) process.stdout.write(shown);
  else write(output, shown);
}

async function screenAs({ gateway, path }: NamedSession, how: { readonly format: string; readonly theme: string }): Promise<Buffer> {
  const body = await askBytes(gateway, `${path}/screen?${new URLSearchParams(how)}`);
  return how.format === 'json' ? Buffer.concat([body, Buffer.from('\n')]) : body;
}

/** Without the blank rows at its end, so that `| tail` shows what a person would call the last lines. Rejects with a CommandError. */
export async function screenText({ gateway, path }: NamedSession): Promise<string> {
  const text = await askBytes(gateway, `${path}/screen?format=text`);
  return text.toString().replace(/\s*$/, '\n');
}

function write(file: string, bytes: Buffer | string): void {
  try {
    writeFileSync(file, bytes);
  } catch (error) {
    throw new CommandError(`${file} cannot be written: ${(error as Error).message}`);
  }
}
