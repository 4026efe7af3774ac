import { restrictTools, toolNames } from '../agent/index.ts'
import { digestOf } from '../base/digests/index.ts'
import { type Grammar, reactGrammar } from '../language/grammar/index.ts'
import { ApiError } from './api-error.ts'
import type { Ask } from './ask.ts'
import { withFunctions } from './functions.ts'

/** How many are kept, by what clients asked for: prompts, parsers and constraints depend on them. */
const KEPT = 32

/** The grammar of the model with the tools that requests ask for. */
export class GrammarVariants {
  readonly #grammar: Grammar
  readonly #react: boolean
  readonly #kept = new Map<string, Grammar>()

  constructor(grammar: Grammar, react: boolean) {
    this.#grammar = grammar
    this.#react = react
  }

  of({ tools, functions }: Pick<Ask, 'tools' | 'functions'>): Grammar {
    const key = digestOf([tools ?? null, functions ?? null])
    const grammar = this.#kept.get(key) ?? this.#make(tools, functions)
    this.#kept.set(key, grammar)
    if (this.#kept.size > KEPT) this.#kept.delete(this.#kept.keys().next().value!)
    return grammar
  }

  #make(tools: Ask['tools'], functions: Ask['functions']): Grammar {
    const grammar = this.#withTools(tools, functions)
    return this.#react ? reactGrammar(grammar) : grammar
  }

  #withTools(tools: Ask['tools'], functions: Ask['functions']): Grammar {
    try {
      if (functions !== undefined) return withFunctions(this.#grammar, functions)
      return tools === undefined ? this.#grammar : restrictTools(this.#grammar, tools)
    } catch (cause) {
      // Whatever it is, what the client asks for is at fault: JSON Schemas can be wrong in many ways.
      const names = toolNames(this.#grammar).join(', ')
      throw new ApiError(
        400,
        `${(cause as Error).message}; the tools of this model are: ${names === '' ? 'none' : names}`,
        { param: 'tools', cause },
      )
    }
  }
}
