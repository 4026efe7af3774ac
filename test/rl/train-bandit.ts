import { onTestFinished } from 'vitest'
import { type Engine, openEmbedded } from '../../src/engine/index.ts'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import { type RlContext, type RlSummary, run as train } from '../../src/stages/rl/index.ts'
import { createRun, type Run } from '../../src/store/index.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'
import { arms, banditShape, pull } from './bandit.ts'

export async function bandit(
  rl: object,
  parts: Partial<RlContext> = {},
): Promise<{ engine: Engine; run: Run; train: () => Promise<RlSummary> }> {
  const engine = await openEmbedded({ model: { shape: banditShape, seed: 3 }, threads: 1 })
  const run = createRun(temporaryFolder(), { id: 'r', command: 'test', coa: '0' })
  onTestFinished(async () => {
    run.close()
    await engine.close()
  })
  const config = ProjectConfig.parse({ rl, rollout: { concurrency: 64 } })
  const context: RlContext = {
    run,
    signal: new AbortController().signal,
    observe: () => undefined,
    student: { engine },
    tasks: arms(4),
    rollOut: (job, checkpoint, { stepOf }) => pull(job, checkpoint, { engine, stepOf }),
    ...parts,
  }
  return { engine, run, train: () => train(config, context) }
}

/** The probability of the correct answer for each task. */
export async function chances(engine: Engine): Promise<number[]> {
  const examples = arms(4).map(({ meta }) => ({
    tokens: [...(meta['prompt'] as number[]), Number(meta['right'])],
    weights: [0, 0, 0, 1],
  }))
  const { logprobs } = await engine.forward(examples)
  return logprobs.map((each) => Math.exp(each[3]!))
}

export const base = {
  steps: 40,
  groups: 4,
  group_size: 32,
  learning_rate: 0.01,
  warmup_steps: 2,
  weight_decay: 0,
  variance_of: 'reward',
  overlong_buffer: 0,
  eval_every: 0,
  save_every: 100,
}
