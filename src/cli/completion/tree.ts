// The command line as shells see it: words, and what may follow them. Knows no shell.
import type { Command, Option } from 'commander';

/** `session` and `instance` are asked of the gateway, `file` of the folder; a list is all that there is. */
export type Follows = 'session' | 'instance' | 'file' | 'anything' | readonly string[];

export interface CompletedOption {
  readonly flags: readonly string[];
  readonly help: string;
  /** Undefined: it takes no value. */
  readonly value: Follows | undefined;
}

export interface CompletedCommand {
  readonly name: string;
  readonly help: string;
  readonly options: readonly CompletedOption[];
  /** Its arguments, in order. */
  readonly arguments: readonly Follows[];
}

export function commandsOf(program: Command): CompletedCommand[] {
  return program
    .createHelp()
    .visibleCommands(program)
    .filter((command) => command.name() !== 'help')
    .map((command) => ({
      name: command.name(),
      help: command.description(),
      options: command.options.filter(({ hidden }) => !hidden).map(optionOf),
      arguments: command.registeredArguments.map((each) => each.argChoices ?? kindOf(each.name())),
    }));
}

function optionOf(option: Option): CompletedOption {
  const takes = option.required || option.optional;
  const word = /[<[]([a-z]+)/.exec(option.flags)?.[1] ?? '';
  const named = ['--instance', '--session'].includes(option.long ?? '') ? option.long?.slice(2) : word;
  return {
    flags: [option.short, option.long].filter((flag) => flag !== undefined),
    help: option.description,
    value: takes ? (option.argChoices ?? kindOf(named ?? '')) : undefined,
  };
}

function kindOf(name: string): Follows {
  if (name === 'session' || name === 'instance') return name;
  return ['file', 'what', 'folder'].includes(name) ? 'file' : 'anything';
}

/** In single quotes, as all three shells read them. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
