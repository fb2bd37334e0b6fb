// `pty-gateway completion`: what a shell needs to complete this command line, made from commander's own tree. Knows no shell.
import { Argument, type Command } from 'commander';
import { bash } from './completion/bash.js';
import { fish } from './completion/fish.js';
import { commandsOf } from './completion/tree.js';
import { zsh } from './completion/zsh.js';
import { type GatewayOptions, gatewayOf, withGateway } from './gateway.js';
import { askJson } from './http.js';
import { instancePath, instancesOf, type ListedSession } from './listing.js';
import { harmless } from './table.js';

const shells = { bash, zsh, fish };
/** A person who waits for a completion has no patience; in milliseconds. */
const ANSWER_MS = 1000;

/** Registers the command, behind all others; and a hidden one, by which shells ask the gateway. */
export function completion(program: Command): void {
  program
    .command('completion')
    .description('print what makes a shell complete this command line')
    .addArgument(new Argument('<shell>', 'which one').choices(Object.keys(shells)))
    .addHelpText(
      'after',
      '\nbash: source <(pty-gateway completion bash)\nzsh:  source <(pty-gateway completion zsh)\nfish: pty-gateway completion fish | source',
    )
    .action((shell: keyof typeof shells) => void process.stdout.write(shells[shell](commandsOf(program))));
  withGateway(program.command('complete', { hidden: true }))
    .addArgument(new Argument('<what>').choices(['session', 'instance']))
    .action(async (what: string, options: GatewayOptions) => void process.stdout.write(await candidates(what, options).catch(() => '')));
}

/** A word a line. Nothing where the gateway is not to be asked: a completion that fails says nothing. */
async function candidates(what: string, options: GatewayOptions): Promise<string> {
  const gateway = gatewayOf(options);
  const instances = await instancesOf(gateway, { withinMs: ANSWER_MS });
  if (what === 'instance') return lines(instances);
  const pages = await Promise.all(
    instances.map((id) =>
      askJson<{ sessions: ListedSession[] }>(gateway, `${instancePath(id)}/sessions?state=running`, { withinMs: ANSWER_MS }),
    ),
  );
  return lines(pages.flatMap(({ sessions }) => sessions.map(({ session_id }) => session_id)));
}

const lines = (words: readonly string[]) => words.map((word) => `${harmless(word)}\n`).join('');
