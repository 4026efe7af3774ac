import { changeTools, openWorld } from '../agent/index.ts'
import { CoaError, UsageError } from '../base/errors/index.ts'
import type { Grammar } from '../language/grammar/index.ts'
import { heldOutTasks } from '../tasks/index.ts'
import type { Ablation, Variant } from './ablations.ts'
import type { ProjectConfig } from './settings.ts'
import { withSettings } from './variant-config.ts'

interface Place {
  grammar: Grammar
  /** The tools that can be called there. */
  available: readonly string[]
}

/**
 * All variants; of those that only change the tools in evaluation, the reference and those that change something for some
 * held-out task and work for all of them.
 */
export async function variantsFor(
  { repeats, variants }: Ablation,
  config: ProjectConfig,
): Promise<readonly Variant[]> {
  if (repeats !== 'eval') return variants
  const places = await placesOf(config)
  const [reference, ...others] = variants
  const affecting = others.filter(({ set = {} }) => {
    const changes = withSettings(config, set).eval
    const effects = places.map((place) => effectOf(changes, place))
    return effects.includes('changed') && !effects.includes('impossible')
  })
  if (affecting.length > 0) return [reference, ...affecting]
  throw new UsageError('the held-out tasks have no tool that can be removed, and none can be added', {
    fix: 'Evaluate other tasks, such as those of a generated suite: --set tasks.suites=search.',
  })
}

async function placesOf(config: ProjectConfig): Promise<Place[]> {
  const tasks = await heldOutTasks(config)
  const world = await openWorld(config)
  const places = new Map<string, Place>()
  try {
    for (const task of tasks) {
      const key = `${task.suite} ${task.domain}`
      if (places.has(key)) continue
      const available = (await world.toolsOf(task)).map(({ name }) => name)
      places.set(key, { grammar: await world.grammarOf(task), available })
    }
  } finally {
    await world.close()
  }
  return [...places.values()]
}

function effectOf(
  changes: ProjectConfig['eval'],
  { grammar, available }: Place,
): 'changed' | 'unchanged' | 'impossible' {
  if (!changes.add_tools.every((name) => available.includes(name))) return 'impossible'
  try {
    return changeTools(grammar, changes) === grammar ? 'unchanged' : 'changed'
  } catch (error) {
    // The grammar does not work with the change, such as without its only tool.
    if (CoaError.isInstance(error)) return 'impossible'
    throw error
  }
}
