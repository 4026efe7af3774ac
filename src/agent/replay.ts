import { z } from 'zod'
import { parseChain } from '../language/grammar/index.ts'
import { type Rollout, streamText, type Task } from '../schema/index.ts'
import type { World } from '../world/index.ts'
import type { Tool } from '../world/tools/index.ts'
import type { Policy, RolloutSettings } from './contract.ts'
import { rollOut } from './roll-out.ts'

export interface Replay {
  rollout: Rollout
  /** Differences from the record; empty if there are none. */
  differences: string[]
}

/**
 * Repeats a recorded rollout: the model samples with the same seeds, and tools return what they returned then. The
 * same weights give the same tokens.
 */
export async function replay(
  recorded: Rollout,
  task: Task,
  policy: Policy,
  world: World,
  settings: RolloutSettings,
): Promise<Replay> {
  const job = { task, id: recorded.id, groupId: recorded.groupId, seed: recorded.seed }
  const rollout = await rollOut(job, policy, await asRecorded(recorded, task, world), {
    ...settings,
    // Recorded observations are already truncated.
    observationTokens: 0,
  })
  const differences: string[] = []
  const compare = (name: string, was: unknown, is: unknown): void => {
    if (JSON.stringify(was) !== JSON.stringify(is)) differences.push(name)
  }
  compare('tokens', tokensOf(recorded), tokensOf(rollout))
  compare('text', streamText(recorded), streamText(rollout))
  compare('stop', recorded.stop, rollout.stop)
  compare('answer', recorded.answer, rollout.answer)
  compare('verdict', recorded.verdict?.outcome, rollout.verdict?.outcome)
  return { rollout, differences }
}

function tokensOf({ promptTokens = [], spans }: Rollout): number[][] {
  return [promptTokens, ...spans.map(({ tokens = [] }) => tokens)]
}

/** The same world, except that tools return their recorded output. */
async function asRecorded(recorded: Rollout, task: Task, world: World): Promise<World> {
  const grammar = await world.grammarOf(task)
  const bodies = recorded.spans
    .filter(({ kind }) => kind === 'observation')
    .map(({ text }) => parseChain(grammar, text).blocks[0]!.text)
  // A malformed call reached no tool; the runtime writes its error message again.
  const spoken = bodies.filter((_, at) => recorded.calls[at]?.outcome !== 'malformed')
  let next = 0
  const tools = [...grammar.agents.values()].flatMap(({ name, kind, payload }): Tool[] =>
    kind !== 'tool'
      ? []
      : [
          {
            name,
            description: '',
            payload,
            input: z.unknown(),
            fromPayload: (given) => given,
            cacheable: false,
            execute: async () => ({ text: spoken[next++] ?? '' }),
          },
        ],
  )
  return {
    ...world,
    toolsOf: async () => tools,
    calling: { ...world.calling, outputLimit: Number.POSITIVE_INFINITY },
  }
}
