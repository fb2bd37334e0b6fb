// Completion for bash. Knows no command.
import { type CompletedCommand, type Follows, quoted } from './tree.js';

/** A script to be sourced. */
export function bash(commands: readonly CompletedCommand[]): string {
  return `_pty_gateway_ask() {
  local word about
  COMPREPLY=()
  while IFS=$'\\t' read -r word about; do
    printf -v word %q "$word"
    [[ $word == "$cur"* ]] && COMPREPLY+=("$word")
  done < <(pty-gateway complete "$1" 2>/dev/null)
}
_pty_gateway() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD - 1]} at=0 i
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W ${quoted(commands.map(({ name }) => name).join(' '))} -- "$cur"))
    return
  fi
  for ((i = 2; i < COMP_CWORD; i++)); do [[ \${COMP_WORDS[i]} == -* ]] || ((at++)); done
  case \${COMP_WORDS[1]} in
${commands.map(caseOf).join('\n')}
  esac
}
complete -F _pty_gateway pty-gateway
`;
}

function caseOf({ name, options, arguments: args }: CompletedCommand): string {
  const values = options.filter(({ value }) => value !== undefined && value !== 'anything');
  const free = options.filter(({ value }) => value === 'anything').flatMap(({ flags }) => flags);
  const flags = options.flatMap((option) => option.flags).join(' ');
  return `    ${name})
      case $prev in
${values.map((option) => `        ${option.flags.join('|')}) ${reply(option.value as Follows)}; return ;;`).join('\n')}
        ${free.length > 0 ? `${free.join('|')}) return ;;` : "'') ;;"}
      esac
      if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W ${quoted(flags)} -- "$cur")); return; fi
      case $at in
${args.map((each, at) => `        ${at}) ${reply(each)} ;;`).join('\n')}
        *) ;;
      esac ;;`;
}

function reply(follows: Follows): string {
  if (follows === 'file') return 'COMPREPLY=($(compgen -f -- "$cur"))';
  if (follows === 'anything') return ':';
  if (typeof follows === 'string') return `_pty_gateway_ask ${follows}`;
  return `COMPREPLY=($(compgen -W ${quoted(follows.join(' '))} -- "$cur"))`;
}
