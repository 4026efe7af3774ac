import type { CompletedCommand, CompletedOption } from './command-tree.ts'

/** Completion for fish, with descriptions. Where nothing is known, files are completed. */
export function fishCompletion(commands: readonly CompletedCommand[]): string {
  const paths = commands.filter(({ path }) => path !== '').map(({ path }) => quoted(path))
  const rules = commands.flatMap(({ path, options, subcommands, values }) => {
    const start = `complete -c coa -n ${quoted(`__coa_at ${quoted(path)}`)}`
    return [
      ...subcommands.map(({ name, description }) => `${start} -f -a ${name} -d ${quoted(description)}`),
      ...(values.length === 0 ? [] : [`${start} -f -a ${quoted(values.join(' '))}`]),
      ...options.map((option) => `${start} ${optionRule(option)}`),
    ]
  })
  return `# Completion of coa for fish. To install: coa completion fish > ~/.config/fish/completions/coa.fish
set -g __coa_paths ${paths.join(' ')}
function __coa_at
    set -l chain ''
    for word in (commandline -opc)[2..]
        set -l next (string trim -- "$chain $word")
        contains -- $next $__coa_paths; and set chain $next
    end
    test "$chain" = "$argv[1]"
end
${rules.join('\n')}
`
}

function optionRule({ flags, description, takesValue, values }: CompletedOption): string {
  const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`))
  const value = values.length > 0 ? ` -x -a ${quoted(values.join(' '))}` : takesValue ? ' -r' : ''
  return `${names.join(' ')}${value} -d ${quoted(description)}`
}

const quoted = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', ' ')}'`
