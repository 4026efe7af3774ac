import type { Command } from 'commander'
import { registerGrammarCheck } from './grammar-check.ts'
import { registerGrammarFit } from './grammar-fit.ts'
import { registerGrammarList } from './grammar-list.ts'
import { registerGrammarShow } from './grammar-show.ts'

export function registerGrammar(program: Command): void {
  const grammar = program
    .command('grammar')
    .description('grammars: which agents a chain may contain, and in what order')
    .addHelpText(
      'after',
      '\nExamples:\n  $ coa grammar list\n  $ coa grammar show web\n  $ coa grammar fit latest --out grammar.toml',
    )
  registerGrammarList(grammar)
  registerGrammarShow(grammar)
  registerGrammarCheck(grammar)
  registerGrammarFit(grammar)
}
