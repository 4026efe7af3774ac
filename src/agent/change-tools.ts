import { nearestName, UsageError } from '../base/errors/index.ts'
import { builtinGrammars, extendGrammar, type Grammar, type ToolAgent } from '../language/grammar/index.ts'
import type { World } from '../world/index.ts'
import { restrictTools, toolNames } from './restrict-tools.ts'

/** Tools by name that solvers get besides those of the grammar, and tools that are taken away from them. */
export interface ToolChanges {
  add_tools: readonly string[]
  remove_tools: readonly string[]
}

/** The same world with other tools: in the prompt, in what the grammar allows, and in what can be called. */
export function withToolChanges(world: World, changes: ToolChanges): World {
  if (changes.add_tools.length === 0 && changes.remove_tools.length === 0) return world
  const changed = new Map<Grammar, Grammar>()
  return {
    ...world,
    grammarOf: async (task) => {
      const grammar = await world.grammarOf(task)
      const other = changed.get(grammar) ?? changeTools(grammar, changes)
      changed.set(grammar, other)
      return other
    },
    toolsOf: async (task) =>
      (await world.toolsOf(task)).filter(({ name }) => !changes.remove_tools.includes(name)),
  }
}

/** A tool that the grammar has already is not added, and one that it lacks is not missed: suites differ in their tools. */
export function changeTools(
  grammar: Grammar,
  { add_tools: add, remove_tools: remove }: ToolChanges,
): Grammar {
  const known = new Set([...builtinTools.keys(), ...toolNames(grammar)])
  for (const name of [...add, ...remove]) if (!known.has(name)) throw unknownTool(name, known)
  const extended = extendGrammar(
    grammar,
    add.flatMap((name) => builtinTools.get(name) ?? []),
  )
  return restrictTools(
    extended,
    toolNames(extended).filter((name) => !remove.includes(name)),
  )
}

const builtinTools: ReadonlyMap<string, ToolAgent> = new Map(
  builtinGrammars.get('all-tools')!.definition.agents.flatMap((agent) => {
    if (agent.kind !== 'tool') return []
    const { name, description, payload } = agent
    return [[name, { name, description, payload }] as const]
  }),
)

function unknownTool(name: string, known: ReadonlySet<string>): UsageError {
  const nearest = nearestName(name, known)
  return new UsageError(`there is no tool named "${name}"`, {
    fix: nearest === undefined ? `Use some of ${[...known].join(', ')}.` : `Did you mean "${nearest}"?`,
  })
}
