import { extname } from 'node:path'
import { builtinGrammars } from './builtin/index.ts'
import type { Grammar } from './grammar.ts'
import { loadGrammar, unknownGrammar } from './load.ts'

/** The grammar of a project that names none. */
const USUAL = 'web'

interface Language {
  grammar?: string | undefined
}

/** The grammar of the project: for texts and questions that come without a task. */
export function projectGrammar({ grammar = USUAL }: Language): Promise<Grammar> {
  return loadGrammar(grammar)
}

/**
 * Grammars by the names that tasks give them: the project's own, by its name or as the settings write it, those that
 * come with coa, or a TOML file. A module named by a task is not loaded: it is a program, and tasks come from anywhere.
 */
export function projectGrammars({ grammar: own }: Language): (name: string) => Promise<Grammar> {
  const mine = own === undefined || builtinGrammars.has(own) ? undefined : loadGrammar(own)
  // Said where it is used; unused it must not end the process.
  mine?.catch(() => {})
  const read = new Map<string, Promise<Grammar>>()
  return async (name) => {
    if (mine !== undefined && (name === own || name === (await mine).name)) return mine
    const builtin = builtinGrammars.get(name)
    if (builtin !== undefined) return builtin
    if (extname(name) !== '.toml') throw unknownGrammar(name)
    const known = read.get(name) ?? loadGrammar(name)
    read.set(name, known)
    return known
  }
}

/** Throws for the first of these names that no grammar has: before any work, not once for every task. */
export async function assertGrammars(names: Iterable<string>, language: Language): Promise<void> {
  const grammarNamed = projectGrammars(language)
  for (const name of new Set(names)) await grammarNamed(name)
}
