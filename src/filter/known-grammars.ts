import { builtinGrammars, type Grammar, loadGrammar } from '../grammar/index.ts'

/**
 * The grammars a sequence may name: those that come with coa and the project's own. A path in a record is not followed,
 * because a grammar file may be a program and records come from anywhere.
 */
export async function knownGrammars(projectGrammar: string): Promise<ReadonlyMap<string, Grammar>> {
  const own = await loadGrammar(projectGrammar)
  return new Map([...builtinGrammars, [projectGrammar, own], [own.name, own]])
}
