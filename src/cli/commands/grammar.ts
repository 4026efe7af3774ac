import type { Command } from 'commander'
import { registerGrammarCheck } from './grammar-check.ts'
import { registerGrammarList } from './grammar-list.ts'
import { registerGrammarShow } from './grammar-show.ts'

export function registerGrammar(program: Command): void {
  const grammar = program.command('grammar').description('the languages a chain can be written in')
  registerGrammarList(grammar)
  registerGrammarShow(grammar)
  registerGrammarCheck(grammar)
}
