import type { CompletedCommand } from './command-tree.ts'

/** Completion for bash 3.2 and newer. Where nothing is known, files are completed. */
export function bashCompletion(commands: readonly CompletedCommand[]): string {
  const paths = commands.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`)
  const values = commands.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(({ flags, values }) => `    ${pattern(path, flags)} words='${values.join(' ')}' ;;`),
  )
  const words = commands.map(({ path, options, subcommands, values }) => {
    const flags = options.flatMap((option) => option.flags).join(' ')
    const names = [...subcommands.map(({ name }) => name), ...values].join(' ')
    return `    '${path}') flags='${flags}' names='${names}' ;;`
  })
  return `# Completion of coa for bash. To install: coa completion bash > ~/.local/share/bash-completion/completions/coa
_coa() {
  local word=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]}
  local path='' next words flags names at
  for ((at = 1; at < COMP_CWORD; at++)); do
    next="\${path:+$path }\${COMP_WORDS[at]}"
    case "$next" in
    ${paths.join(' | ')}) path=$next ;;
    esac
  done
  COMPREPLY=()
  case "$path $previous" in
${values.join('\n')}
    *)
      case "$path" in
${words.map((line) => `  ${line}`).join('\n')}
      esac
      words=$names
      [[ $word == -* ]] && words=$flags
      ;;
  esac
  while IFS='' read -r next; do COMPREPLY+=("$next"); done < <(compgen -W "$words" -- "$word")
}
complete -o default -F _coa coa
`
}

const pattern = (path: string, flags: readonly string[]): string =>
  `${flags.map((flag) => `'${path} ${flag}'`).join(' | ')})`
