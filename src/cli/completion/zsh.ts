import type { CompletedCommand } from './command-tree.ts'

/** Completion for zsh, with descriptions. Where nothing is known, files are completed. */
export function zshCompletion(commands: readonly CompletedCommand[]): string {
  const paths = commands.filter(({ path }) => path !== '').map(({ path }) => quoted(path))
  const values = commands.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .map(
        ({ flags, values }) =>
          `    ${flags.map((flag) => quoted(`${path} ${flag}`)).join(' | ')}) ${values.length === 0 ? '_files' : `compadd -- ${values.join(' ')}`}; return ;;`,
      ),
  )
  const described = commands.map(({ path, options, subcommands, values }) => {
    const flags = options.flatMap((option) => option.flags.map((flag) => item(flag, option.description)))
    const names = [
      ...subcommands.map(({ name, description }) => item(name, description)),
      ...values.map(quoted),
    ]
    return `    ${quoted(path)})\n      flags=(${flags.join(' ')})\n      names=(${names.join(' ')}) ;;`
  })
  return `#compdef coa
# Completion of coa for zsh. To install: coa completion zsh > DIRECTORY/_coa, for a directory in $fpath
_coa() {
  local chain='' next at
  local -a flags names
  for ((at = 2; at < CURRENT; at++)); do
    next="\${chain:+$chain }\${words[at]}"
    case "$next" in
    ${paths.join(' | ')}) chain=$next ;;
    esac
  done
  case "$chain \${words[CURRENT-1]}" in
${values.join('\n')}
  esac
  case "$chain" in
${described.join('\n')}
  esac
  if [[ $words[CURRENT] == -* ]]; then
    _describe -o option flags
  elif (( $#names )); then
    _describe command names
  else
    _files
  fi
}
if [[ $funcstack[1] == _coa ]]; then _coa "$@"; else compdef _coa coa; fi
`
}

/** A name and its description, as _describe reads them. */
const item = (name: string, description: string): string =>
  quoted(`${name.replaceAll(':', '\\:')}:${description.replaceAll('\n', ' ')}`)

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
