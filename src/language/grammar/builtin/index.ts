import { defineGrammar, type Grammar } from '../grammar.ts'
import { allTools } from './all-tools.ts'
import { code, math } from './code-and-math.ts'
import { multihop } from './multihop.ts'
import { open } from './open.ts'
import { web } from './web.ts'

/** The built-in grammars, by name: web, multihop, code, math, all-tools and open. */
export const builtinGrammars: ReadonlyMap<string, Grammar> = new Map(
  [web, multihop, code, math, allTools, open].map((definition) => [
    definition.name,
    defineGrammar(definition),
  ]),
)
