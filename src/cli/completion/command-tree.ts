import type { Command, Option } from 'commander'

/** A command as shells complete it. */
export interface CompletedCommand {
  /** Its words after `coa`: empty for `coa` itself, `engine bench` for a subcommand. */
  path: string
  description: string
  options: CompletedOption[]
  subcommands: { name: string; description: string }[]
  /** The values of its first argument, if there is a fixed set. */
  values: readonly string[]
}

export interface CompletedOption {
  /** `-n` and `--count`. */
  flags: string[]
  description: string
  takesValue: boolean
  /** Its possible values, if there is a fixed set. */
  values: readonly string[]
}

/** All commands of the program, `coa` first. Their options include those of every command. */
export function commandTree(program: Command): CompletedCommand[] {
  const ofAll = [...program.options, helpOption].filter(({ long }) => long !== '--version').map(completed)
  const visit = (command: Command, path: string): CompletedCommand[] => {
    const subcommands = command.commands.map((each) => ({
      name: each.name(),
      description: each.description(),
    }))
    const own =
      command === program ? program.options.filter(({ long }) => long === '--version') : command.options
    const here = {
      path,
      description: command.description(),
      options: [...own.filter(({ hidden }) => !hidden).map(completed), ...ofAll],
      subcommands,
      values: command.registeredArguments[0]?.argChoices ?? [],
    }
    return [
      here,
      ...command.commands.flatMap((each) =>
        visit(each, path === '' ? each.name() : `${path} ${each.name()}`),
      ),
    ]
  }
  return visit(program, '')
}

type OptionFacts = Pick<Option, 'short' | 'long' | 'description' | 'required' | 'optional' | 'argChoices'>

/** commander adds it on its own. */
const helpOption: OptionFacts = {
  short: '-h',
  long: '--help',
  description: 'display help for command',
  required: false,
  optional: false,
}

function completed({
  short,
  long,
  description,
  required,
  optional,
  argChoices,
}: OptionFacts): CompletedOption {
  return {
    flags: [short, long].filter((flag) => flag !== undefined),
    description,
    takesValue: required || optional,
    values: argChoices ?? [],
  }
}
