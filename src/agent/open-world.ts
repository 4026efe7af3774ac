import { projectGrammars } from '../language/grammar/index.ts'
import { createJudge } from '../reward/index.ts'
import { type ProjectConfig, readEnvironment } from '../settings/index.ts'
import { openToolsFor } from '../tasks/index.ts'
import { modelFromSettings, promptFunction } from '../world/models/index.ts'
import { openSandbox } from '../world/sandbox/index.ts'
import type { RolloutSettings, World } from './contract.ts'

/** What the settings say tasks are worked on with. */
export async function openWorld(config: ProjectConfig): Promise<World> {
  const tools = openToolsFor(config)
  const grammarNamed = projectGrammars(config.language)
  const sandbox = await openSandbox(config.sandbox)
  const judge = modelFromSettings('judge', config.judge, readEnvironment())
  return {
    grammarOf: (task) => grammarNamed(task.domain),
    toolsOf: (task) => tools.of(task),
    calling: { timeoutMs: config.tools.timeout_s * 1000, outputLimit: config.tools.output_limit },
    check: {
      sandbox,
      ...(judge === undefined
        ? {}
        : { judge: createJudge({ model: promptFunction(judge), modelName: judge.name }) }),
    },
    async close() {
      await tools.close()
      await sandbox.close()
    },
  }
}

export function rolloutSettings({ rollout }: Pick<ProjectConfig, 'rollout'>): RolloutSettings {
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
