import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { afterAll, expect, it } from 'vitest'
import {
  convertModel,
  type EmbeddedOptions,
  type Engine,
  inspectModel,
  openEmbedded,
  verifyCheckpoint,
} from '../../src/engine/index.ts'
import { isFull } from '../how-many.ts'
import { byteModelShape, writeByteModel } from './byte-model.ts'
import { engineContract } from './contract.ts'

const shape = byteModelShape
const folder = mkdtempSync(join(tmpdir(), 'coa-embedded-'))
const model = writeByteModel(folder)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const subject = (options: Partial<EmbeddedOptions> = {}, path = model) => ({
  open: (): Promise<Engine> => openEmbedded({ model: path, threads: 1, ...options }),
  tolerance: 1e-4,
  bitEqual: true,
})

engineContract('embedded', subject())
if (isFull) engineContract('embedded, two threads', subject({ threads: 2 }))
engineContract(
  'embedded, qwen3',
  subject({}, writeByteModel(folder, 'qwen3', { ...shape, family: 'qwen3', queryKeyNorm: true })),
)

it('keeps the event loop free while it trains and samples', async () => {
  const engine = await openEmbedded({
    model: { shape: { ...shape, width: 256, headWidth: 64, feedForwardWidth: 1024, layers: 4 }, seed: 1 },
    threads: 1,
  })
  const tokens = Array.from({ length: 129 }, (_, at) => at)
  const examples = Array.from({ length: 16 }, () => ({ tokens, weights: tokens.map(() => 1) }))
  await engine.forwardBackward(examples, { kind: 'cross-entropy' })
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const started = performance.now()
  await engine.forwardBackward(examples, { kind: 'cross-entropy' })
  const took = performance.now() - started
  delay.disable()
  // A stall as long as the pass would mean that it runs on this thread. The machine itself may pause a little.
  expect(took).toBeGreaterThan(50)
  expect(delay.percentile(99) / 1e6).toBeLessThan(Math.max(20, took / 4))
  await engine.close()
})

it('rejects all requests when its thread dies, and the last checkpoint is intact', async () => {
  const path = join(folder, 'last')
  const engine = await openEmbedded({ model, threads: 1 })
  await engine.save(path, { stage: 'sft', step: 1, createdAt: '2026-01-01T00:00:00Z' })
  // As when running out of memory. Not in the middle of native code, which would crash the process.
  void (engine as unknown as { worker: { terminate(): void } }).worker.terminate()
  const waiting = engine.sample({ prompt: [1, 2, 3], maxTokens: 100 })
  await expect(waiting).rejects.toThrow(/thread stopped/)
  await expect(engine.sample({ prompt: [1], maxTokens: 1 })).rejects.toThrow(/thread stopped/)
  expect(verifyCheckpoint(path).step).toBe(1)
  const again = await openEmbedded({ model: path, threads: 1 })
  expect((await again.sample({ prompt: [1], maxTokens: 1 }))[0]!.tokens.length).toBe(1)
  await again.close()
})

it('learns the same with one thread and several, and the same every time', async () => {
  const tokens = (seed: number) => Array.from({ length: 120 }, (_, at) => (seed * 31 + at * 7) % 259)
  const examples = Array.from({ length: 24 }, (_, seed) => ({
    tokens: tokens(seed),
    weights: tokens(seed).map((_, at) => at % 3),
  }))
  const norms: number[][] = []
  for (const threads of [1, 3, 3]) {
    const engine = await openEmbedded({ model, threads })
    const seen: number[] = []
    for (let step = 0; step < 3; step++) {
      const { loss } = await engine.forwardBackward(examples, { kind: 'cross-entropy' })
      const { gradientNorm } = await engine.optimStep({ learningRate: 1e-3 })
      seen.push(loss, gradientNorm)
    }
    norms.push(seen)
    await engine.close()
  }
  expect(norms[2]).toEqual(norms[1])
  for (const [index, value] of norms[1]!.entries())
    expect(Math.abs(value / norms[0]![index]! - 1)).toBeLessThan(1e-4)
})

it.each(['BF16', 'F16'] as const)(
  'stores the weights of a %s model as such, and resumes exactly',
  async (elementType) => {
    const base = join(folder, `narrow-${elementType}`)
    convertModel(model, base, { elementType, createdAt: '2026-01-02T03:04:05.000Z' })
    const note = { stage: 'sft' as const, step: 2, createdAt: '2026-01-02T03:04:05.000Z' }
    const examples = [{ tokens: [1, 2, 3, 4, 5, 6], weights: [0, 1, 1, 1, 1, 1] }]
    const train = async (engine: Engine): Promise<number[]> => {
      const losses: number[] = []
      for (let step = 0; step < 2; step++) {
        losses.push((await engine.forwardBackward(examples, { kind: 'cross-entropy' })).loss)
        await engine.optimStep({ learningRate: 1e-3 })
      }
      return losses
    }
    const [first, second] = await Promise.all([1, 2].map(() => openEmbedded({ model: base, threads: 1 })))
    await train(first!)
    const [saved, result] = [join(base, 'saved'), join(base, 'result')]
    await first!.save(saved, note)
    await first!.save(result, note, { optimizer: false })
    const expected = await train(first!)
    await second!.load(saved)
    expect(await train(second!)).toEqual(expected)
    await Promise.all([first!.close(), second!.close()])
    const reports = await Promise.all([inspectModel(saved), inspectModel(result)])
    for (const { elementTypes, parameters } of reports)
      expect(elementTypes).toEqual({ [elementType]: parameters })
    expect(reports.map(({ optimizer }) => optimizer !== undefined)).toEqual([true, false])
  },
)
