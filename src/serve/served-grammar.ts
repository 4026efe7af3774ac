import { trainedGrammars } from '../agent/trained-grammar.ts'
import { ConfigError } from '../base/errors/index.ts'
import { builtinGrammars } from '../language/grammar/index.ts'

/** The name of the grammar to serve a model with: that of the settings, or else the one that the model was trained on. */
export function servedGrammar(grammar: string | undefined, folder: string): string {
  if (grammar !== undefined) return grammar
  const trained = trainedGrammars(folder)
  const [only] = trained
  if (only !== undefined && trained.length === 1) {
    if (builtinGrammars.has(only)) return only
    // It may be code, and the run may come from someone else.
    throw new ConfigError(`${folder} was trained on the grammar ${only}, which is not one of coa's own`, {
      fix: `If you trust it, name it: --grammar ${only}.`,
    })
  }
  throw new ConfigError(
    trained.length === 0
      ? `nothing records which grammar ${folder} was trained on`
      : `${folder} was trained on several grammars: ${trained.join(', ')}`,
    { fix: `Choose one with --grammar, such as --grammar ${only ?? 'math'}, or set language.grammar.` },
  )
}
