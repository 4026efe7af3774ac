import type { Run } from '../store/index.ts'
import { openTaskTools } from '../tasks/index.ts'
import { openWorld as openWorldWith, type World } from '../world/index.ts'
import type { WorldConfig } from '../world/settings.ts'
import type { RolloutSettings } from './contract.ts'
import type { RolloutSection } from './settings.ts'

/**
 * Opens everything that a task is solved with: grammar, tools, sandbox and judge, as the settings describe them, plus what
 * generated tasks need. With a run, the tools recorded in that run are included.
 *
 * @example
 * import { openWorld, ProjectConfig, suites } from 'chain-of-agents'
 *
 * const task = suites.get('math')!.generate({ seed: 1, split: 'train', index: 0 })
 * const world = await openWorld(ProjectConfig.parse({}))
 * console.log((await world.toolsOf(task)).map(({ name }) => name))
 * await world.close()
 */
export function openWorld(config: WorldConfig, run?: Run): Promise<World> {
  return openWorldWith(config, { taskTools: openTaskTools(config), run })
}

/**
 * The section `rollout` of the settings as rollouts take it.
 *
 * @example
 * import { ProjectConfig, rolloutSettings } from 'chain-of-agents'
 *
 * const config = ProjectConfig.parse({ rollout: { temperature: 0.7, max_tokens: 800 } })
 * console.log(rolloutSettings(config).maxTokens) // 800
 */
export function rolloutSettings({ rollout }: { rollout: RolloutSection }): RolloutSettings {
  return {
    temperature: rollout.temperature,
    topP: rollout.top_p,
    topK: rollout.top_k,
    maxTurns: rollout.max_turns,
    maxTokens: rollout.max_tokens,
    maxSeconds: rollout.max_seconds,
    maxSameCall: rollout.max_same_call,
    observationTokens: rollout.observation_tokens,
    constrained: rollout.constrained,
    // Only where it is set: digests of settings made before it existed remain valid.
    ...(rollout.react ? { react: true } : {}),
  }
}
