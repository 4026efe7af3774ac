import { ToolError } from '../base/errors/index.ts'
import type { World } from '../world/index.ts'

/** The same world, but every tool refuses: what a model still solves, it knew. */
export function withoutTools(world: World): World {
  const refuse = async (): Promise<never> => {
    throw new ToolError('no tool can be used for this question', {
      fix: 'Answer from what you know.',
    })
  }
  return {
    ...world,
    toolsOf: async (task) =>
      (await world.toolsOf(task)).map((tool) => ({ ...tool, cacheable: false, execute: refuse })),
  }
}
