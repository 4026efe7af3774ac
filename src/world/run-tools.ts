import { ConfigError } from '../base/errors/index.ts'
import type { Language, ToolAgent } from '../language/grammar/index.ts'
import { type RecordOf, recordSchemas, type Trajectory } from '../schema/index.ts'
import type { Run } from '../store/index.ts'
import { type Tool, withoutPatterns } from './tools/index.ts'

type Payload = RecordOf<'tool'>['payload']

/**
 * The language of a run: the configured grammars plus the tools its stages had. The tools are read from the run, so
 * that its records can be distilled, filtered and exported where the tools are not installed.
 */
export function languageOf({ grammar }: Language, run: Pick<Run, 'scan'>): Language {
  return { grammar, tools: toolsOf(run) }
}

/**
 * Records the configured tools in a run and returns all of its tools. A tool keeps its first description, because a
 * model was trained on it. A tool that the run has and the settings lack is an error: nothing in a run folder may
 * start a program.
 */
export function declareTools(run: Pick<Run, 'id' | 'scan' | 'append'>, tools: readonly Tool[]): ToolAgent[] {
  const known = toolsOf(run).map(({ name }) => name)
  const missing = known.find((name) => !tools.some((tool) => tool.name === name))
  if (missing !== undefined) {
    throw new ConfigError(`run ${run.id} uses the tool "${missing}", which is missing from your settings`, {
      fix: 'Add its [tools.mcp.NAME] or [tools.own] section to coa.toml: code and servers are never loaded from a run.',
    })
  }
  for (const tool of tools) {
    if (known.includes(tool.name)) continue
    const { name, description, payload } = agentOf(tool)
    run.append('tool', { v: 1, id: name, description, payload: payload as Payload })
  }
  return toolsOf(run)
}

/**
 * The tools that a trajectory says its agents had and that a language lacks. Recorders cannot know the run that a trajectory will be
 * written to, so they leave this to distillation.
 */
export function toolsToDeclare(
  { meta }: Pick<Trajectory, 'meta'>,
  { tools = [] }: Language,
): RecordOf<'tool'>[] {
  const offered = Array.isArray(meta['tools']) ? meta['tools'] : []
  return offered.flatMap((one) => {
    const { success, data } = recordSchemas.tool.safeParse(one)
    return success && !tools.some(({ name }) => name === data.id) ? [data] : []
  })
}

/** A language with these tools, too. */
export const withTools = (language: Language, tools: readonly RecordOf<'tool'>[]): Language => ({
  ...language,
  tools: [...(language.tools ?? []), ...tools.map(toAgent)],
})

/**
 * What a grammar needs to know about a tool. Only the tool itself evaluates regular expressions: see
 * `withoutPatterns`.
 */
export function agentOf({ name, description, payload }: ToolAgent): ToolAgent {
  if (payload?.syntax !== 'json' || payload.schema === undefined) return { name, description, payload }
  return { name, description, payload: { ...payload, schema: withoutPatterns(payload.schema) as Payload } }
}

function toolsOf(run: Pick<Run, 'scan'>): ToolAgent[] {
  return [...run.scan('tool')].map(toAgent)
}

const toAgent = ({ id, description, payload }: RecordOf<'tool'>): ToolAgent =>
  agentOf({ name: id, description, payload: payload as ToolAgent['payload'] })
