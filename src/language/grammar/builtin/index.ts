import { defineGrammar, type Grammar } from '../grammar.ts'
import { allTools } from './all-tools.ts'
import { code, math } from './code-and-math.ts'
import { multihop } from './multihop.ts'
import { web } from './web.ts'

/** The built-in grammars, by name: web, multihop, code, math and all-tools. */
export const builtinGrammars: ReadonlyMap<string, Grammar> = new Map(
  [web, multihop, code, math, allTools].map((definition) => [definition.name, defineGrammar(definition)]),
)
