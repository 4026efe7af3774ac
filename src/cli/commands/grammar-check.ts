import type { Command } from 'commander'
import { CoaError } from '../../base/errors/index.ts'
import { defineGrammar, readDefinition } from '../../language/grammar/index.ts'
import { exitCodes } from '../exit-codes.ts'
import type { GlobalOptions } from '../globals.ts'
import { emit, mark } from '../output.ts'

export function registerGrammarCheck(parent: Command): void {
  parent
    .command('check')
    .argument('<file>', 'a grammar as .toml, .ts or .js')
    .description('check your own grammar and list all problems')
    .addHelpText('after', '\nExample:\n  $ coa grammar check my-grammar.toml')
    .action(async (file: string, _options, command: Command) => {
      const problems = problemsOf(await readDefinition(file))
      emit(command.optsWithGlobals<GlobalOptions>(), { file, ok: problems.length === 0, problems }, () =>
        problems.length === 0
          ? `${mark.good} ${file} is a valid grammar`
          : [
              `${mark.bad} ${file} has ${problems.length} problem${problems.length === 1 ? '' : 's'}:`,
              ...problems.map((problem) => `  - ${problem}`),
            ].join('\n'),
      )
      if (problems.length > 0) process.exitCode = exitCodes.findings.code
    })
}

function problemsOf(definition: Parameters<typeof defineGrammar>[0]): string[] {
  try {
    defineGrammar(definition)
    return []
  } catch (error) {
    if (CoaError.isInstance(error) && Array.isArray(error.details['problems']))
      return error.details['problems'] as string[]
    throw error
  }
}
