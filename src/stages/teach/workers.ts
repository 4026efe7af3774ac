import type { Grammar } from '../../language/grammar/index.ts'
import type { AgentSpec } from './contract.ts'
import { toolHelp } from './examples.ts'

const names: Record<string, string> = {
  web_search: 'searcher',
  wiki_search: 'searcher',
  crawl_page: 'reader',
  code: 'coder',
}

/** The name of the worker that calls a tool. */
export function workerOf(tool: string, crew?: string): string {
  const base = names[tool] ?? `${tool}_agent`
  return crew === undefined ? base : `${base}_${crew}`
}

/** A worker for each available tool of the grammar, once per crew. */
export function workersFor(
  grammar: Grammar,
  available: ReadonlySet<string>,
  crews: readonly (string | undefined)[] = [undefined],
): AgentSpec[] {
  const tools = [...grammar.agents.values()].filter(
    ({ kind, name }) => kind === 'tool' && available.has(name),
  )
  return crews.flatMap((crew) =>
    tools.map((tool) => {
      const { name, description } = tool
      const own = workerOf(name, crew)
      return {
        name: own,
        tool: name,
        description,
        instructions: `You are ${own}. You have one tool, ${name}. Use it when asked. ${description}`,
        help: toolHelp(tool),
        ...(crew === undefined ? {} : { crew }),
      }
    }),
  )
}
