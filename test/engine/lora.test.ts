import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { randomStream, type StoredTensors } from '../../src/engine/checkpoint/index.ts'
import { addLowRank } from '../../src/engine/checkpoint/low-rank.ts'
import { adapterNames, freshAdapters } from '../../src/engine/embedded/llama/lora.ts'
import { parameterShapes } from '../../src/engine/embedded/llama/parameter-shapes.ts'
import { openRuntime } from '../../src/engine/embedded/open-runtime.ts'
import { ParameterStore } from '../../src/engine/embedded/parameter-store.ts'
import { Trainer } from '../../src/engine/embedded/training/trainer.ts'
import {
  normalized,
  openCheckpoint,
  openEmbedded,
  saveCheckpoint,
  shapeFromConfig,
} from '../../src/engine/index.ts'
import { distance, examplesOf, readFixture, weightsOf } from './fixtures.ts'

const fixture = readFixture('smollm2')
const folder = mkdtempSync(join(tmpdir(), 'coa-lora-'))
const base = join(folder, 'base')
const note = { stage: 'sft', step: 1, createdAt: '2026-01-01T00:00:00Z' } as const
saveCheckpoint(base, { ...note, shape: shapeFromConfig(fixture.config), weights: weightsOf(fixture) })
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const open = () => openEmbedded({ model: base, threads: 1, lora: { rank: 4, alpha: 8 } })
const examples = normalized(examplesOf(fixture))

it('starts like the base model, trains few parameters, and leaves the base unchanged', async () => {
  const engine = await open()
  const { trainedParameters, parameters } = engine.describe()
  expect(trainedParameters).toBeLessThan(parameters)
  const first = await engine.forwardBackward(examples, { kind: 'cross-entropy' })
  const total = fixture.sequences.flatMap(({ weights }) => weights).reduce((sum, weight) => sum + weight, 0)
  expect(first.loss).toBeCloseTo(fixture.cross_entropy.loss / total, 4)
  await engine.optimStep({ learningRate: 1e-2 })
  for (let step = 0; step < 20; step++) {
    await engine.forwardBackward(examples, { kind: 'cross-entropy' })
    await engine.optimStep({ learningRate: 1e-2 })
  }
  const adapted = await engine.forward(examples)
  const path = join(folder, 'adapted')
  await engine.save(path, note)

  // Saved is the adapter alone, which opens like a model and gives the same output.
  expect(readdirSync(path).sort()).toEqual([
    'adapter_config.json',
    'adapter_model.safetensors',
    'coa-checkpoint.json',
    'optimizer.safetensors',
  ])
  const plain = await openEmbedded({ model: path, threads: 1 })
  const same = await plain.forward(examples)
  for (const [index, logprobs] of adapted.logprobs.entries())
    for (const [at, logprob] of logprobs.entries())
      expect(Math.abs(same.logprobs[index]![at]! - logprob)).toBeLessThan(1e-4)
  const unchanged = openCheckpoint(base).weights.get('model.embed_tokens.weight')!.values
  expect(openCheckpoint(path).weights.get('model.embed_tokens.weight')!.values).toEqual(unchanged)

  // Loaded again on the same base, training resumes bit for bit.
  const next = async (each: typeof engine): Promise<number> => {
    await each.forwardBackward(examples, { kind: 'cross-entropy' })
    await each.optimStep({ learningRate: 1e-2 })
    return (await each.forwardBackward(examples, { kind: 'cross-entropy' })).loss
  }
  const resumed = await open()
  await resumed.load(path)
  expect(await next(resumed)).toBe(await next(engine))
  // So does it opened as an adapter to train further.
  const opened = await openEmbedded({ model: path, threads: 1, lora: { rank: 4, alpha: 8 } })
  expect((await opened.forward(examples)).logprobs).toEqual(adapted.logprobs)
  await opened.save(join(folder, 'again'), note)
  expect(openCheckpoint(join(folder, 'again')).adapter).toMatchObject({ base, rank: 4, alpha: 8 })
  const other = await openEmbedded({ model: base, threads: 1, lora: { rank: 4, alpha: 4 } })
  await expect(other.load(path)).rejects.toThrow('no adapter of the rank and alpha')
  await expect(other.load(base)).rejects.toThrow('no adapter of the rank and alpha')
  await Promise.all([engine, plain, resumed, opened, other].map((each) => each.close()))
})

it('has the gradients derived from those of the merged weights', async () => {
  const shape = shapeFromConfig(fixture.config)
  const lora = { rank: 4, alpha: 8 }
  const runtime = await openRuntime({ threads: 1 })
  const next = randomStream('adapters')
  // B is initially zero, so A would have no gradient; here both are random.
  const adapters = new Map(
    [...freshAdapters(shape, lora)].map(([name, tensor]) => [
      name,
      { ...tensor, values: tensor.values.map(() => next() / 2 ** 32 - 0.5) },
    ]),
  )
  const all = new Map([...weightsOf(fixture), ...adapters])
  const gradientsOf = async (weights: StoredTensors, settings?: typeof lora) => {
    const store = new ParameterStore(runtime, parameterShapes(shape, settings), weights, settings)
    const trainer = new Trainer(runtime, shape, store, { lora: settings })
    await trainer.pass(examplesOf(fixture), { kind: 'cross-entropy' }, () => undefined)
    await trainer.release()
    return new Map(
      store.trained.map((each) => [each.name, { ...each, values: store.part(store.gradients, each) }]),
    )
  }
  const adapted = await gradientsOf(all, lora)
  const summed = new Map(
    [...weightsOf(fixture)].map(([name, tensor]) => {
      const { down, up } = adapterNames(name.replace(/\.weight$/, ''))
      const sum = { ...tensor, values: tensor.values.slice() }
      if (adapters.has(down)) addLowRank(sum, adapters.get(down)!, adapters.get(up)!, lora.alpha / lora.rank)
      return [name, sum]
    }),
  )
  const whole = await gradientsOf(summed)
  const projections = [...adapted.keys()].filter((name) => name.endsWith('.lora_A.weight'))
  expect(projections.length).toBe(7 * shape.layers)
  for (const downName of projections) {
    const projection = downName.replace('.lora_A.weight', '')
    const [gradient, down, up] = [
      whole.get(`${projection}.weight`)!,
      adapters.get(downName)!,
      adapters.get(`${projection}.lora_B.weight`)!,
    ]
    const [to, from] = gradient.shape as [number, number]
    const scale = lora.alpha / lora.rank
    const ofDown = new Float32Array(lora.rank * from)
    const ofUp = new Float32Array(to * lora.rank)
    for (let row = 0; row < to; row++)
      for (let column = 0; column < from; column++)
        for (let inner = 0; inner < lora.rank; inner++) {
          const each = scale * gradient.values[row * from + column]!
          ofDown[inner * from + column]! += each * up.values[row * lora.rank + inner]!
          ofUp[row * lora.rank + inner]! += each * down.values[inner * from + column]!
        }
    const expectedDown = { shape: [], values: [...ofDown] }
    expect(distance(adapted.get(downName)!.values, expectedDown), downName).toBeLessThan(1e-4)
    const expectedUp = { shape: [], values: [...ofUp] }
    expect(distance(adapted.get(`${projection}.lora_B.weight`)!.values, expectedUp)).toBeLessThan(1e-4)
  }
})
