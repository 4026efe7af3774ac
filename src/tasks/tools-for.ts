import type { Task } from '../schema/index.ts'
import { type ProjectConfig, readEnvironment } from '../settings/index.ts'
import { openToolbox, type Tool } from '../world/tools/index.ts'
import { serveWorld, type WorldServer, worldTools } from './suites/search/index.ts'

/** The tools a task is worked on with: those of the settings, and for tasks about an encyclopedia that one, served. */
export function openToolsFor(config: ProjectConfig): {
  of: (task: Task) => Promise<Tool[]>
  close: () => Promise<void>
} {
  const toolbox = openToolbox(config, readEnvironment())
  const worlds = new Map<number, Promise<WorldServer>>()
  let usual: Promise<Tool[]> | undefined
  const worldOf = (seed: number): Promise<WorldServer> => {
    const known = worlds.get(seed) ?? serveWorld({ seed })
    worlds.set(seed, known)
    return known
  }
  return {
    async of(task) {
      usual ??= toolbox
        .states()
        .then((states) => states.flatMap(({ tool }) => (tool === undefined ? [] : [tool])))
      const tools = await usual
      const world = task.meta['world']
      if (typeof world !== 'number') return tools
      const own = worldTools(await worldOf(world), { limit: config.search.limit })
      const names = new Set(own.map(({ name }) => name))
      return [...own, ...tools.filter(({ name }) => !names.has(name))]
    },
    async close() {
      for (const world of worlds.values()) await (await world).close()
      await toolbox.close()
    },
  }
}
