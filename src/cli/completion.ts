// `pty-gateway completion`: what a shell needs to complete this command line, made from commander's own tree. Knows no shell.
import { Argument, type Command } from 'commander';
import { bash } from './completion/bash.js';
import { fish } from './completion/fish.js';
import { commandsOf } from './completion/tree.js';
import { zsh } from './completion/zsh.js';

const shells = { bash, zsh, fish };

/** Registers the command, behind all others. */
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
}
