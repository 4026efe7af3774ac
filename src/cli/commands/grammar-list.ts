import type { Command } from 'commander'
import pc from 'picocolors'
import { builtinGrammars } from '../../language/grammar/index.ts'
import type { GlobalOptions } from '../globals.ts'
import { emit, table } from '../output.ts'

export function registerGrammarList(parent: Command): void {
  parent
    .command('list')
    .description('list the built-in grammars')
    .addHelpText('after', '\nExamples:\n  $ coa grammar list\n  $ coa grammar list --json')
    .action((_options, command: Command) => {
      const grammars = [...builtinGrammars.values()].map(({ name, description, agents }) => ({
        name,
        description,
        agents: [...agents.keys()],
      }))
      emit(command.optsWithGlobals<GlobalOptions>(), grammars, () =>
        table(
          grammars.map(({ name, description, agents }) => [
            pc.bold(name),
            `${description}\n${' '.repeat(11)}${pc.dim(agents.join(' '))}`,
          ]),
        ),
      )
    })
}
