import type { Task } from '../schema/index.ts'
import type { ProjectConfig } from '../settings/index.ts'
import type { TaskTools } from '../world/index.ts'
import { serveWorld, type WorldServer, worldTools } from './suites/search/index.ts'

/** The tools that tasks bring along: those about an encyclopedia have that one, served when it is first needed. */
export function openTaskTools({ search }: Pick<ProjectConfig, 'search'>): TaskTools {
  const worlds = new Map<number, Promise<WorldServer>>()
  const worldOf = (seed: number): Promise<WorldServer> => {
    const known = worlds.get(seed) ?? serveWorld({ seed })
    worlds.set(seed, known)
    return known
  }
  return {
    async of(task: Task) {
      const world = task.meta['world']
      return typeof world === 'number' ? worldTools(await worldOf(world), { limit: search.limit }) : []
    },
    async close() {
      for (const world of worlds.values()) await (await world).close()
    },
  }
}
