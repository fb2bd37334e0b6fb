// `pty-gateway new`: begins a session. Knows the request (contract, POST /agents/:inst/sessions), no process.
import { type Command, InvalidArgumentError } from 'commander';
import type { Size } from '../client/node.js';
import { attachTo } from './attach.js';
import { done, exits, usageExits } from './failure.js';
import { type GatewayOptions, gatewayOf, withGateway } from './gateway.js';
import { askJson } from './http.js';
import { instancePath, type ListedSession, ofAgent } from './listing.js';
import { namedSession } from './named-session.js';

/** Columns and rows (pty-ext §6.4). */
const MAX_SIDE = 1024;

interface NewOptions extends GatewayOptions {
  readonly label?: string;
  readonly size?: Size;
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  readonly attach?: true;
  readonly json?: true;
}

/** Registers the command. */
export function newSession(program: Command): void {
  withGateway(usageExits(program.command('new'), exits.failedElse).description('begin a session, and print its id'))
    .argument('<instance>', 'of which agent')
    .argument('[argv...]', "behind `--`: what runs in place of the agent's command, where the agent allows it")
    .option('--label <text>', 'what it is called')
    .option('--size <cols>x<rows>', 'of its terminal, as 120x30', size)
    .option('--cwd <folder>', "where it begins, within the agent's folder")
    .option('--env <name=value>', 'for its environment, where the agent allows it; may be given again', variable)
    .option('--attach', 'show it in this terminal at once')
    .option('--json', 'print the session as JSON')
    .addHelpText('after', '\nThe exit code is 0, or 255 for every failure; with --attach, as that of `attach`.')
    .action((instance: string, argv: string[], options: NewOptions) => done(() => begin(instance, argv, options), exits.failedElse));
}

async function begin(instance: string, argv: string[], { label, size, cwd, env, attach, json, ...options }: NewOptions): Promise<void> {
  const gateway = gatewayOf(options);
  const body = { ...(argv.length > 0 && { argv }), ...size, ...given({ label, cwd, env }) };
  const begun = askJson<ListedSession>(gateway, `${instancePath(instance)}/sessions`, { method: 'POST', body });
  const session = await ofAgent(gateway, instance, begun);
  if (json) process.stdout.write(`${JSON.stringify(session, null, 2)}\n`);
  else if (!attach) process.stdout.write(`${session.session_id}\n`);
  if (attach) process.exitCode = await attachTo(await namedSession(session.session_id, options));
}

/** Without what was not given. */
function given<T extends object>(members: T): Partial<T> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<T>;
}

export function size(text: string): Size {
  const [, cols, rows] = /^(\d{1,4})[x×](\d{1,4})$/.exec(text) ?? [];
  const sides = [Number(cols), Number(rows)];
  if (sides.some((side) => !(side >= 1 && side <= MAX_SIDE)))
    throw new InvalidArgumentError(`expected <cols>x<rows>, each 1 to ${MAX_SIDE}`);
  return { cols: Number(cols), rows: Number(rows) };
}

function variable(text: string, before: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('expected <name>=<value>');
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}
