import type { Observe } from '../base/progress/index.ts'
import { randomStream } from './checkpoint/index.ts'
import type { Engine, TrainingExample } from './contract.ts'

export interface MeasureOptions {
  /** Batch sizes to measure sampling with. Default 1, 8, 32 and 128. */
  batches?: readonly number[]
  /** Minimum duration of each measurement. Default 3. */
  seconds?: number
  observe?: Observe
  signal?: AbortSignal
}

export interface EngineSpeed {
  training: { sequences: number; sequenceTokens: number; tokensPerSecond: number }
  sampling: { batch: number; tokensPerSecond: number }[]
}

/** Tokens per optimizer step, and per sequence in it. */
const STEP_TOKENS = 4096
const SEQUENCE_TOKENS = 256
const PROMPT_TOKENS = 16
const SAMPLED_TOKENS = 64

/** Measures training and sampling throughput on this machine with random tokens. The weights are useless afterwards. */
export async function measureEngine(engine: Engine, options: MeasureOptions = {}): Promise<EngineSpeed> {
  const { batches = [1, 8, 32, 128], seconds = 3, observe, signal } = options
  const total = batches.length + 1
  observe?.({ stage: 'training', done: 0, total, unit: 'measurements' })
  const training = await measureTraining(engine, seconds, signal)
  const sampling: EngineSpeed['sampling'] = []
  for (const batch of batches) {
    observe?.({ stage: `sampling ${batch} at once`, done: sampling.length + 1, total, unit: 'measurements' })
    const tokensPerSecond = await rate(seconds, signal, () => sampleOnce(engine, batch, signal))
    sampling.push({ batch, tokensPerSecond })
  }
  return { training, sampling }
}

async function measureTraining(
  engine: Engine,
  seconds: number,
  signal: AbortSignal | undefined,
): Promise<EngineSpeed['training']> {
  const { contextLength } = engine.describe()
  const sequenceTokens = Math.min(SEQUENCE_TOKENS, contextLength)
  const sequences = Math.max(1, Math.round(STEP_TOKENS / sequenceTokens))
  const examples = Array.from({ length: sequences }, (_, index): TrainingExample => {
    const tokens = tokensOf(engine, `training ${index}`, sequenceTokens)
    // The mean over the step, as in training.
    return { tokens, weights: tokens.map(() => 1 / STEP_TOKENS) }
  })
  const tokensPerSecond = await rate(seconds, signal, async () => {
    await engine.forwardBackward(examples, { kind: 'cross-entropy' }, signal)
    await engine.optimStep({ learningRate: 1e-4, maxNorm: 1 })
    return sequences * sequenceTokens
  })
  return { sequences, sequenceTokens, tokensPerSecond }
}

/** Prompts differ, so that the prefix cache has no effect. */
async function sampleOnce(engine: Engine, batch: number, signal: AbortSignal | undefined): Promise<number> {
  const { contextLength } = engine.describe()
  const maxTokens = Math.max(1, Math.min(SAMPLED_TOKENS, contextLength - PROMPT_TOKENS))
  const samples = await Promise.all(
    Array.from({ length: batch }, (_, seed) =>
      engine.sample({
        prompt: tokensOf(engine, `prompt ${seed}`, Math.min(PROMPT_TOKENS, contextLength - 1)),
        maxTokens,
        seed,
        ...(signal === undefined ? {} : { signal }),
      }),
    ),
  )
  return samples.flat().reduce((sum, { tokens }) => sum + tokens.length, 0)
}

/** Warms up once, then repeats; returns the best run, which is the least disturbed. */
async function rate(
  seconds: number,
  signal: AbortSignal | undefined,
  work: () => Promise<number>,
): Promise<number> {
  await work()
  const end = performance.now() + seconds * 1000
  let best = 0
  do {
    signal?.throwIfAborted()
    const started = performance.now()
    const tokens = await work()
    best = Math.max(best, (1000 * tokens) / (performance.now() - started))
  } while (performance.now() < end)
  return best
}

function tokensOf(engine: Engine, name: string, length: number): number[] {
  const { vocabularySize } = engine.describe()
  const random = randomStream(name)
  return Array.from({ length }, () => random() % vocabularySize)
}
