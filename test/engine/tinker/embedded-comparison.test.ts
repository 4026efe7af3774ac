import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Engine,
  normalized,
  openEmbedded,
  openTinker,
  type TrainingExample,
  verifyCheckpoint,
} from '../../../src/engine/index.ts'
import { startTestTrainer, type TestTrainer } from './test-trainer.ts'
import { trainerPython } from './trainer-python.ts'

const python = await trainerPython()
const STEPS = 60
const note = { stage: 'sft', step: 30, createdAt: '2026-01-01T00:00:00Z' } as const

/** The batch of a step: four lines of sums, with the question excluded from the loss. */
function batch(step: number): TrainingExample[] {
  return Array.from({ length: 4 }, (_, row) => {
    const [a, b] = [(step * 7 + row * 3) % 50, (step * 5 + row * 11) % 50]
    const question = [...Buffer.from(`${a} + ${b} = `)]
    const tokens = [...question, ...Buffer.from(`${a + b}. That is all there is to say about it.`)]
    return { tokens, weights: tokens.map((_, at) => (at < question.length ? 0 : 1)) }
  })
}

async function train(engine: Engine, from: number, to: number): Promise<number[]> {
  const losses: number[] = []
  for (let step = from; step < to; step++) {
    losses.push((await engine.forwardBackward(normalized(batch(step)), { kind: 'cross-entropy' })).loss)
    await engine.optimStep({ learningRate: 3e-3, weightDecay: 0.1, maxNorm: 1 })
  }
  return losses
}

function furthest(found: readonly number[], wanted: readonly number[]): number {
  return Math.max(...found.map((value, at) => Math.abs(value / wanted[at]! - 1)))
}

describe.skipIf(python === undefined)('the trainer compared with the embedded engine', () => {
  let trainer: TestTrainer
  let curve: number[]
  beforeAll(async () => {
    trainer = await startTestTrainer(python!)
    const embedded = await openEmbedded({ model: trainer.model, threads: 1 })
    curve = await train(embedded, 0, STEPS / 2)
    await embedded.save(join(trainer.folder, 'embedded'), note)
    curve.push(...(await train(embedded, STEPS / 2, STEPS)))
    await embedded.close()
  })
  afterAll(() => trainer?.stop())
  const open = () => openTinker({ url: trainer.url, tokenizer: trainer.model })

  it('has the same loss curve from the same weights and data', async () => {
    const engine = await open()
    const losses = await train(engine, 0, STEPS / 2)
    await engine.save(join(trainer.folder, 'trainer'), note)
    losses.push(...(await train(engine, STEPS / 2, STEPS)))
    await engine.close()
    const difference = furthest(losses, curve)
    console.info(`largest difference in loss over ${STEPS} steps: ${(difference * 100).toFixed(4)} %`)
    expect(curve.at(-1)!).toBeLessThan(curve[0]! / 3)
    expect(difference).toBeLessThan(0.01)
  })

  it('resumes from a checkpoint of the embedded engine with its optimizer state, and vice versa', async () => {
    const engine = await open()
    await engine.load(join(trainer.folder, 'embedded'))
    const there = await train(engine, STEPS / 2, STEPS)
    await engine.close()
    expect(furthest(there, curve.slice(STEPS / 2))).toBeLessThan(0.01)
    const path = join(trainer.folder, 'trainer')
    expect(verifyCheckpoint(path)).toMatchObject({ stage: 'sft', step: 30 })
    const embedded = await openEmbedded({ model: path, threads: 1 })
    // Opening loads only the weights; `load` loads the optimizer state too.
    await embedded.load(path)
    const here = await train(embedded, STEPS / 2, STEPS)
    await embedded.close()
    expect(furthest(here, curve.slice(STEPS / 2))).toBeLessThan(0.01)
    // A model that is only opened has a new optimizer and diverges.
    const fresh = await openEmbedded({ model: path, threads: 1 })
    const other = await train(fresh, STEPS / 2, STEPS)
    await fresh.close()
    expect(furthest(other, curve.slice(STEPS / 2))).toBeGreaterThan(0.01)
  })

  it('computes the same policy loss, clipped and capped', async () => {
    const [here, there] = [await openEmbedded({ model: trainer.model, threads: 1 }), await open()]
    const examples = batch(3).map((example, row) => {
      const wave = (scale: number) => Array.from(example.tokens, (_, at) => scale * Math.sin(at * (row + 2)))
      return { ...example, advantages: wave(2), base: wave(0.8), drift: wave(0.4) }
    })
    const { logprobs } = await here.forward(examples)
    const rollouts = examples.map(({ base, drift, ...example }, row) => ({
      ...example,
      sampledLogprobs: base.map((value, at) => logprobs[row]![at]! + value),
      oldLogprobs: base.map((value, at) => logprobs[row]![at]! + value + drift[at]!),
    }))
    for (const more of [{}, { dualClip: 1.5 }, { dualClip: 1.5, importanceCap: 1.1 }]) {
      const loss = { kind: 'policy', lowestRatio: 0.8, highestRatio: 1.28, ...more } as const
      const found: number[][] = []
      for (const engine of [here, there]) {
        const { loss: value, weight } = await engine.forwardBackward(rollouts, loss)
        const { gradientNorm } = await engine.optimStep({ learningRate: 0 })
        found.push([value, weight, gradientNorm])
      }
      expect(furthest(found[1]!, found[0]!)).toBeLessThan(1e-3)
    }
    await Promise.all([here.close(), there.close()])
  })

  it('is found by the probe to sum losses as documented', async () => {
    const lines: string[] = []
    const engine = await openTinker({
      url: trainer.url,
      tokenizer: trainer.model,
      probe: true,
      observe: (line) => lines.push(line),
    })
    expect(engine.contract).toEqual({
      crossEntropyIsSum: true,
      advantages: 'sum',
      passesAdd: true,
      clips: true,
      dualClip: true,
      clipsGradient: true,
      repeatsSafely: true,
    })
    expect(lines).toContain('cross-entropy is a sum')
    await engine.close()
  })

  it('gives the same results for both encodings', async () => {
    const found: number[][] = []
    for (const encoding of ['json', 'protobuf'] as const) {
      const engine = await openTinker({ url: trainer.url, encoding })
      const { loss, logprobs } = await engine.forwardBackward(batch(2), { kind: 'cross-entropy' })
      const { gradientNorm } = await engine.optimStep({ learningRate: 0 })
      found.push([loss, gradientNorm, ...logprobs.flatMap((each) => [...each])])
      await engine.close()
    }
    expect(found[1]).toEqual(found[0])
  })

  it('trains and samples adapters', async () => {
    const engine = await openTinker({
      url: trainer.url,
      tokenizer: trainer.model,
      lora: { rank: 4, alpha: 8, seed: 1 },
    })
    const { parameters, trainedParameters } = engine.describe()
    expect(trainedParameters).toBeLessThan(parameters / 2)
    const losses = await train(engine, 0, 10)
    expect(losses.at(-1)!).toBeLessThan(losses[0]!)
    const path = join(trainer.folder, 'adapter')
    await engine.save(path, note)
    const before = await engine.forward(batch(1))
    await train(engine, 10, 12)
    await engine.load(path)
    const after = await engine.forward(batch(1))
    for (const [row, logprobs] of before.logprobs.entries())
      for (const [at, value] of logprobs.entries())
        expect(Math.abs(after.logprobs[row]![at]! - value)).toBeLessThan(1e-4)
    await engine.close()
  })
})
