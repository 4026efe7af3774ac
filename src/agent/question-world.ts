import { ToolError } from '../base/errors/index.ts'
import type { Grammar } from '../language/grammar/index.ts'
import type { Task } from '../schema/index.ts'
import { readEnvironment } from '../settings/index.ts'
import type { World } from '../world/index.ts'
import type { WorldConfig } from '../world/settings.ts'
import { openToolbox, type Tool } from '../world/tools/index.ts'
import { restrictTools, toolNames } from './restrict-tools.ts'

/** The world for one question: its grammar restricted to the requested tools, each of which must be available. */
export async function worldForQuestion(
  world: World,
  task: Task,
  config: WorldConfig,
  tools: readonly string[] | undefined,
): Promise<{ world: World; grammar: Grammar }> {
  const whole = await world.grammarOf(task)
  const grammar = tools === undefined ? whole : restrictTools(whole, tools)
  const wanted = toolNames(grammar)
  const usable = withWorldSearch(await world.toolsOf(task), task).filter(({ name }) => wanted.includes(name))
  const missing = wanted.find((name) => !usable.some((tool) => tool.name === name))
  if (missing !== undefined) throw await missingTool(missing, usable, config)
  return { grammar, world: { ...world, grammarOf: async () => grammar, toolsOf: async () => usable } }
}

/** With --world, both search tools search the encyclopedia. */
function withWorldSearch(tools: readonly Tool[], task: Task): Tool[] {
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
