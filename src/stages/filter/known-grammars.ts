import { builtinGrammars, type Grammar } from '../../language/grammar/index.ts'

/**
 * The grammars a sequence may name: those that come with coa and the project's own. A path in a record is not followed,
 * because a grammar file may be a program and records come from anywhere.
 */
export function knownGrammars(own: Grammar): ReadonlyMap<string, Grammar> {
  return new Map([...builtinGrammars, [own.name, own]])
}
