import type { RolloutJob } from '../../src/agent/contract.ts'
import type { Engine, ModelShape } from '../../src/engine/index.ts'
import type { Rollout, Task } from '../../src/schema/index.ts'
import type { RolloutOptions } from '../../src/stages/rl/contract.ts'
import { type Part, spansFrom } from '../rollout/spans.ts'
import { makeTask } from './make-rollout.ts'

/** A minimal model: sixteen tokens, a few hundred parameters. */
export const banditShape: ModelShape = {
  family: 'llama',
  vocabularySize: 16,
  width: 16,
  layers: 1,
  heads: 2,
  keyValueHeads: 1,
  headWidth: 8,
  feedForwardWidth: 24,
  contextLength: 32,
  normEpsilon: 1e-5,
  ropeBase: 10_000,
  ropeScaling: undefined,
  tiedHead: false,
  projectionBias: { queryKeyValue: false, output: false, feedForward: false },
  queryKeyNorm: false,
  initializerRange: 0.1,
  endTokens: [],
}

/** Each task is a token repeated three times and the token that is correct after it. */
export const arms = (count: number): Task[] =>
  Array.from({ length: count }, (_, number) =>
    makeTask(`arm-${number}`, {
      level: number % 2,
      meta: { prompt: [number, number, number], right: 15 - number },
    }),
  )

/** The reward of a token: 1 for the correct one, less than a half for all others. */
const worth = (token: number, right: number): number => (token === right ? 1 : ((token * 7) % 10) / 20)

export interface BanditOptions extends Partial<Pick<RolloutOptions, 'stepOf'>> {
  /** Several answers, with three inserted tokens in between. */
  turns?: number
  engine: Engine
}

/** An answer is one token; the last one counts. */
export async function pull(
  { task, id, groupId, seed }: RolloutJob,
  checkpoint: string,
  { engine, turns = 1, stepOf }: BanditOptions,
): Promise<Rollout> {
  const right = Number(task.meta['right'])
  const parts: Part[] = [{ prompt: task.meta['prompt'] as number[] }]
  const context = [...(task.meta['prompt'] as number[])]
  const began = performance.now()
  for (let turn = 0; turn < turns; turn++) {
    if (turn > 0) {
      parts.push({ inserted: [0, 0, 0] })
      context.push(0, 0, 0)
    }
    const [sample] = await engine.sample({ prompt: [...context], maxTokens: 1, seed: seed + turn })
    const policies = stepOf && [{ step: stepOf(sample!.versions?.[0]), tokens: 1 }]
    parts.push({
      sampled: [...sample!.tokens],
      logprobs: [...sample!.logprobs],
      ...(policies && { policies }),
    })
    context.push(...sample!.tokens)
  }
  const answer = context.at(-1)!
  const calls = Array.from({ length: turns - 1 }, () => ({
    agent: 'world',
    outcome: 'ok' as const,
    ms: 0,
    cached: false,
  }))
  return {
    v: 2,
    id,
    taskId: task.id,
    groupId,
    checkpoint,
    grammar: 'bandit',
    seed,
    prompt: [],
    ...spansFrom(parts),
    stop: 'answer',
    answer: String(answer),
    verdict: {
      outcome: answer === right ? 'correct' : 'wrong',
      checker: 'exact',
      evidence: '',
      score: worth(answer, right),
    },
    calls,
    wellFormed: true,
    ms: { sampling: performance.now() - began, tools: 0, checking: 0 },
    meta: {},
  }
}
