import { extname } from 'node:path'
import { builtinGrammars } from './builtin/index.ts'
import { extendGrammar, type ToolAgent } from './extend-grammar.ts'
import type { Grammar } from './grammar.ts'
import { loadGrammar, unknownGrammar } from './load.ts'

const DEFAULT_GRAMMAR = 'web'

/** What imported runs and their tasks have for want of a grammar, so that the project's own takes its place. */
const NO_GRAMMAR = 'open'

/** Tells whether the project's own grammar is used where a record names this one. */
export const givesWay = (name: unknown, { grammar }: Language): boolean =>
  name === NO_GRAMMAR && grammar !== undefined

/** The language settings, which are the same for all stages of a run. */
export interface Language {
  /** The project's own grammar. */
  grammar?: string | undefined
  /** Tools that are added to every grammar. */
  tools?: readonly ToolAgent[]
}

/** The project's grammar, for texts and questions without a task. */
export async function projectGrammar({ grammar = DEFAULT_GRAMMAR, tools = [] }: Language): Promise<Grammar> {
  return extendGrammar(await loadGrammar(grammar), tools)
}

/**
 * Resolves the grammar names in tasks: the project's own (by its name or as written in the settings), a built-in one, or
 * a TOML file. Modules named by a task are not loaded: they are code, and tasks are untrusted.
 */
export function projectGrammars({ grammar: own, tools = [] }: Language): (name: string) => Promise<Grammar> {
  const project = own === undefined || builtinGrammars.has(own) ? undefined : loadGrammar(own)
  // The error is reported on use; until then it must not crash the process.
  project?.catch(() => {})
  const read = async (name: string): Promise<Grammar> => {
    if (givesWay(name, { grammar: own })) return project ?? builtinGrammars.get(own!)!
    if (project !== undefined && (name === own || name === (await project).name)) return project
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
 * The grammars a record may name: the built-in ones and the project's own. Paths in records are not loaded, because a
 * grammar file may be code and records are untrusted.
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

/** Throws if one of the names is unknown: once, before any work, instead of for every task. */
export async function assertGrammars(names: Iterable<string>, language: Language): Promise<void> {
  const grammarNamed = projectGrammars(language)
  for (const name of new Set(names)) await grammarNamed(name)
}
