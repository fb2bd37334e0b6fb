// Completion for zsh. Knows no command.
import { type CompletedCommand, type CompletedOption, type Follows, quoted } from './tree.js';

/** A script to be sourced, or a file `_pty-gateway` on fpath. */
export function zsh(commands: readonly CompletedCommand[]): string {
  return `#compdef pty-gateway
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -u }
_pty_gateway_ask() {
  local -a words; local word
  for word in \${(f)"$(pty-gateway complete $1 2>/dev/null)"}; do words+=("\${\${word%%$'\\t'*}//:/\\\\:}:\${word#*$'\\t'}"); done
  _describe $1 words
}
_pty_gateway() {
  if (( CURRENT == 2 )); then
    local -a commands; commands=(
${commands.map(({ name, help }) => `      ${quoted(`${name}:${help.replaceAll(':', '\\:')}`)}`).join('\n')}
    )
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words; (( CURRENT-- ))
  case $command in
${commands.map(caseOf).join('\n')}
  esac
}
compdef _pty_gateway pty-gateway
`;
}

function caseOf({ name, options, arguments: args }: CompletedCommand): string {
  const specs = [...options.flatMap(optionSpecs), ...args.map((each, at) => quoted(`${at + 1}:${action(each)}`))];
  return `    ${name}) _arguments ${specs.join(' ')} ;;`;
}

function optionSpecs({ flags, help, value }: CompletedOption): string[] {
  const what = help.replace(/[[\]:\\]/g, '\\$&');
  return flags.map((flag) => quoted(`${flag}[${what}]${value === undefined ? '' : `:${action(value)}`}`));
}

/** The message and what is to be done. */
function action(follows: Follows): string {
  if (follows === 'file') return 'file:_files';
  if (follows === 'anything') return 'value: ';
  return typeof follows === 'string' ? `${follows}:{_pty_gateway_ask ${follows}}` : `value:(${follows.join(' ')})`;
}
