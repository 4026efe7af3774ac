import type { TaskTools } from '../world/index.ts'
import type { SearchSection } from '../world/settings.ts'
import { suites } from './suites/index.ts'

/** The tools that generated tasks provide themselves. */
export function openTaskTools(settings: { search: SearchSection }): TaskTools {
  const opened = [...suites.values()].flatMap((suite) => suite.openTools?.(settings) ?? [])
  return {
    of: async (task) => (await Promise.all(opened.map((tools) => tools.of(task)))).flat(),
    async close() {
      for (const tools of opened) await tools.close()
    },
  }
}
