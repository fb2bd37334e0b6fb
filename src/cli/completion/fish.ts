// Completion for fish. Knows no command.
import { type CompletedCommand, type CompletedOption, type Follows, quoted } from './tree.js';

/** A script to be sourced. */
export function fish(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name }) => name).join(' ');
  const first = commands.map(({ name, help }) =>
    line(`-n ${quoted(`not __fish_seen_subcommand_from ${names}`)} -a ${name} -d ${text(help)}`),
  );
  return `${[line('-f'), ...first, ...commands.flatMap(linesOf)].join('\n')}\n`;
}

const line = (rest: string) => `complete -c pty-gateway ${rest}`;

function linesOf({ name, options, arguments: args }: CompletedCommand): string[] {
  const seen = `__fish_seen_subcommand_from ${name}`;
  const positions = args.map((each, at) => {
    const isHere = `${seen}; and test (count (string match -v -- '-*' (commandline -opc))) -eq ${at + 2}`;
    return follows(each) && line(`-n ${text(isHere)} ${follows(each)}`);
  });
  return [...options.map((option) => line(`-n ${quoted(seen)} ${optionOf(option)}`)), ...positions.filter((each) => each !== '')];
}

function optionOf({ flags, help, value }: CompletedOption): string {
  const named = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`)).join(' ');
  return `${named} -d ${text(help)}${value === undefined ? '' : ` ${value === 'file' ? '-r' : '-x'} ${follows(value)}`}`;
}

function follows(what: Follows): string {
  if (what === 'file') return '-F';
  if (what === 'anything') return '';
  return `-a ${typeof what === 'string' ? `'(pty-gateway complete ${what} 2>/dev/null)'` : quoted(what.join(' '))}`;
}

/** In fish a quote within quotes is escaped. */
const text = (words: string): string => `'${words.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
