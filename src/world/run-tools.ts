import { ConfigError } from '../base/errors/index.ts'
import type { Language, ToolAgent } from '../language/grammar/index.ts'
import type { RecordOf } from '../schema/index.ts'
import type { Run } from '../store/index.ts'
import { type Tool, withoutPatterns } from './tools/index.ts'

type Payload = RecordOf<'tool'>['payload']

/**
 * The language of a run: the grammars of the settings with the tools that its stages had. They are read from the run, so
 * that what was recorded with a tool can be distilled, filtered and exported where the tool is not.
 */
export function languageOf({ grammar }: Language, run: Pick<Run, 'scan'>): Language {
  return { grammar, tools: toolsOf(run) }
}

/**
 * Writes down the tools that the settings give a run, and returns all it has. A tool keeps the words it was first described
 * with, because a model was trained on them. One that the run has and the settings do not is an error: nothing in a run
 * folder starts a program.
 */
export function declareTools(run: Pick<Run, 'id' | 'scan' | 'append'>, tools: readonly Tool[]): ToolAgent[] {
  const known = toolsOf(run).map(({ name }) => name)
  const missing = known.find((name) => !tools.some((tool) => tool.name === name))
  if (missing !== undefined) {
    throw new ConfigError(`run ${run.id} works with the tool "${missing}", which your settings do not have`, {
      fix: 'Repeat its [tools.mcp.NAME] or [tools.own] in coa.toml: code and servers are not taken from a run.',
    })
  }
  for (const tool of tools) {
    if (known.includes(tool.name)) continue
    const { name, description, payload } = agentOf(tool)
    run.append('tool', { v: 1, id: name, description, payload: payload as Payload })
  }
  return toolsOf(run)
}

/** What grammars know of a tool. Only the tool itself evaluates regular expressions: see `withoutPatterns`. */
export function agentOf({ name, description, payload }: ToolAgent): ToolAgent {
  if (payload?.syntax !== 'json' || payload.schema === undefined) return { name, description, payload }
  return { name, description, payload: { ...payload, schema: withoutPatterns(payload.schema) as Payload } }
}

function toolsOf(run: Pick<Run, 'scan'>): ToolAgent[] {
  return [...run.scan('tool')].map(({ id, description, payload }) =>
    agentOf({ name: id, description, payload: payload as ToolAgent['payload'] }),
  )
}
