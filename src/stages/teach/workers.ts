import type { Grammar } from '../../language/grammar/index.ts'
import type { AgentSpec } from './contract.ts'
import { workerNames } from './scripted-mind.ts'

/** A worker for each tool that the grammar knows and that is there, once for every crew. */
export function workersFor(
  grammar: Grammar,
  available: ReadonlySet<string>,
  crews: readonly (string | undefined)[] = [undefined],
): AgentSpec[] {
  const tools = [...grammar.agents.values()].filter(
    ({ kind, name }) => kind === 'tool' && available.has(name),
  )
  return crews.flatMap((crew) =>
    tools.map(({ name, description }) => {
      const base = workerNames[name] ?? `${name}_agent`
      const own = crew === undefined ? base : `${base}_${crew}`
      return {
        name: own,
        tool: name,
        instructions: `You are ${own}. You work with one tool, ${name}, on order. ${description}`,
        ...(crew === undefined ? {} : { crew }),
      }
    }),
  )
}
