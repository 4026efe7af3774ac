import { extname } from 'node:path'
import { builtinGrammars } from './builtin/index.ts'
import { extendGrammar, type ToolAgent } from './extend-grammar.ts'
import type { Grammar } from './grammar.ts'
import { loadGrammar, unknownGrammar } from './load.ts'

/** The grammar of a project that names none. */
const USUAL = 'web'

/** What decides how chains are written. Every stage of a run has the same. */
export interface Language {
  /** The project's own grammar. */
  grammar?: string | undefined
  /** Tools that every grammar has besides its own. */
  tools?: readonly ToolAgent[]
}

/** The grammar of the project: for texts and questions that come without a task. */
export async function projectGrammar({ grammar = USUAL, tools = [] }: Language): Promise<Grammar> {
  return extendGrammar(await loadGrammar(grammar), tools)
}

/**
 * Grammars by the names that tasks give them: the project's own, by its name or as the settings write it, those that
 * come with coa, or a TOML file. A module named by a task is not loaded: it is a program, and tasks come from anywhere.
 */
export function projectGrammars({ grammar: own, tools = [] }: Language): (name: string) => Promise<Grammar> {
  const mine = own === undefined || builtinGrammars.has(own) ? undefined : loadGrammar(own)
  // Said where it is used; unused it must not end the process.
  mine?.catch(() => {})
  const read = async (name: string): Promise<Grammar> => {
    if (mine !== undefined && (name === own || name === (await mine).name)) return mine
    const builtin = builtinGrammars.get(name)
    if (builtin !== undefined) return builtin
    if (extname(name) !== '.toml') throw unknownGrammar(name)
    return loadGrammar(name)
  }
  const known = new Map<string, Promise<Grammar>>()
  return (name) => {
    const grammar = known.get(name) ?? read(name).then((found) => extendGrammar(found, tools))
    known.set(name, grammar)
    return grammar
  }
}

/**
 * The grammars a record may name: those that come with coa and the project's own. A path in a record is not followed,
 * because a grammar file may be a program and records come from anywhere.
 */
export async function knownGrammars(
  language: Language,
): Promise<{ own: Grammar; byName: ReadonlyMap<string, Grammar> }> {
  const own = await projectGrammar(language)
  const builtin = [...builtinGrammars].map(
    ([name, grammar]) => [name, extendGrammar(grammar, language.tools ?? [])] as const,
  )
  return { own, byName: new Map([...builtin, [own.name, own]]) }
}

/** Throws for the first of these names that no grammar has: before any work, not once for every task. */
export async function assertGrammars(names: Iterable<string>, language: Language): Promise<void> {
  const grammarNamed = projectGrammars(language)
  for (const name of new Set(names)) await grammarNamed(name)
}
