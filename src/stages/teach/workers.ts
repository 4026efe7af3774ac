import type { Grammar } from '../../language/grammar/index.ts'
import type { AgentSpec } from './contract.ts'

const names: Record<string, string> = {
  web_search: 'searcher',
  wiki_search: 'searcher',
  crawl_page: 'reader',
  code: 'coder',
}

/** The name of the worker that makes a tool's calls. */
export function workerOf(tool: string, crew?: string): string {
  const base = names[tool] ?? `${tool}_agent`
  return crew === undefined ? base : `${base}_${crew}`
}

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
      const own = workerOf(name, crew)
      return {
        name: own,
        tool: name,
        instructions: `You are ${own}. You work with one tool, ${name}, on order. ${description}`,
        ...(crew === undefined ? {} : { crew }),
      }
    }),
  )
}
