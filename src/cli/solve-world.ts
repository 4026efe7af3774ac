import type { World } from '../agent/index.ts'
import { ToolError } from '../base/errors/index.ts'
import type { Grammar } from '../language/grammar/index.ts'
import type { ProjectConfig } from '../pipeline/settings.ts'
import type { Task } from '../schema/index.ts'
import { readEnvironment } from '../settings/index.ts'
import type { Tool } from '../world/tools/index.ts'
import { restrictTools, toolsOf } from './only-tools.ts'

/** The grammar restricted to the requested tools, after checking that each of them works. */
export async function worldForQuestion(
  opened: World,
  task: Task,
  config: ProjectConfig,
  tools: readonly string[] | undefined,
): Promise<{ world: World; grammar: Grammar }> {
  const whole = await opened.grammarOf(task)
  const grammar = tools === undefined ? whole : restrictTools(whole, tools)
  const wanted = toolsOf(grammar)
  const usable = searchesWorld(await opened.toolsOf(task), task).filter(({ name }) => wanted.includes(name))
  const missing = wanted.find((name) => !usable.some((tool) => tool.name === name))
  if (missing !== undefined) throw await missingTool(missing, usable, config)
  return { grammar, world: { ...opened, grammarOf: async () => grammar, toolsOf: async () => usable } }
}

/** With --world, both search tools search the encyclopedia. */
function searchesWorld(tools: readonly Tool[], task: Task): Tool[] {
  const search = tools.find(({ name }) => name === 'web_search')
  if (typeof task.meta['world'] !== 'number' || search === undefined) return [...tools]
  return [...tools.filter(({ name }) => name !== 'wiki_search'), { ...search, name: 'wiki_search' }]
}

async function missingTool(name: string, usable: readonly Tool[], config: ProjectConfig): Promise<ToolError> {
  const { openToolbox } = await import('../world/tools/index.ts')
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
