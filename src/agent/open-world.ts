import type { Run } from '../store/index.ts'
import { openTaskTools } from '../tasks/index.ts'
import { openWorld as openWorldWith, type World } from '../world/index.ts'
import type { WorldConfig } from '../world/settings.ts'
import type { RolloutSettings } from './contract.ts'
import type { RolloutSection } from './settings.ts'

/** The configured world, with the tools of generated tasks and, in a run, those stored with it. */
export function openWorld(config: WorldConfig, run?: Run): Promise<World> {
  return openWorldWith(config, { taskTools: openTaskTools(config), run })
}

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
  }
}
