import { ToolError } from '../base/errors/index.ts'
import { extendGrammar, type Grammar } from '../language/grammar/index.ts'
import type { Task } from '../schema/index.ts'
import { readEnvironment } from '../settings/index.ts'
import type { World } from '../world/index.ts'
import type { WorldConfig } from '../world/settings.ts'
import { openToolbox, type Tool } from '../world/tools/index.ts'
import { restrictTools, toolNames } from './restrict-tools.ts'

/**
 * The world for questions: its grammar with only the requested tools, each of which must be available. A tool is requested by its
 * name in the grammar, or given: then it is added to the grammar.
 */
export async function worldForQuestion(
  world: World,
  task: Pick<Task, 'domain' | 'meta'>,
  config: WorldConfig,
  tools: readonly (string | Tool)[] | undefined,
): Promise<{ world: World; grammar: Grammar }> {
  const given = (tools ?? []).filter((tool) => typeof tool !== 'string')
  const whole = extendGrammar(await world.grammarOf(task), given)
  const names = tools?.map((tool) => (typeof tool === 'string' ? tool : tool.name))
  const grammar = names === undefined ? whole : restrictTools(whole, names)
  const wanted = toolNames(grammar)
  const others = withWorldSearch(await world.toolsOf(task), task)
  const usable = [...given, ...others.filter(({ name }) => given.every((own) => own.name !== name))].filter(
    ({ name }) => wanted.includes(name),
  )
  const missing = wanted.find((name) => !usable.some((tool) => tool.name === name))
  if (missing !== undefined) throw await missingTool(missing, usable, config)
  return { grammar, world: { ...world, grammarOf: async () => grammar, toolsOf: async () => usable } }
}

/** With --world, both search tools search the encyclopedia. */
function withWorldSearch(tools: readonly Tool[], task: Pick<Task, 'meta'>): Tool[] {
  const search = tools.find(({ name }) => name === 'web_search')
  if (typeof task.meta['world'] !== 'number' || search === undefined) return [...tools]
  return [...tools.filter(({ name }) => name !== 'wiki_search'), { ...search, name: 'wiki_search' }]
}

async function missingTool(name: string, usable: readonly Tool[], config: WorldConfig): Promise<ToolError> {
  const toolbox = openToolbox(config, readEnvironment())
  const state = (await toolbox.states()).find((known) => known.name === name)
  await toolbox.close()
  const fixes = [
    state?.fix ?? '',
    name.endsWith('_search') ? 'Or search the fictional encyclopedia: --world 1.' : '',
    usable.length > 0 ? `Or leave it out: --tools ${usable.map((tool) => tool.name).join(',')}.` : '',
  ]
  return new ToolError(`${name} is not available: ${state?.how ?? 'coa has no such tool'}`, {
    fix: fixes.filter((fix) => fix !== '').join(' ') || 'Choose another grammar with --grammar.',
  })
}
