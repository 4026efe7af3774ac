import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { compareDevices } from '../../src/engine/embedded/device-comparison.ts'
import { parameterShapes } from '../../src/engine/embedded/llama/parameter-shapes.ts'
import { openRuntime } from '../../src/engine/embedded/open-runtime.ts'
import { ParameterStore } from '../../src/engine/embedded/parameter-store.ts'
import { Trainer } from '../../src/engine/embedded/training/trainer.ts'
import { openEmbedded, randomWeights } from '../../src/engine/index.ts'
import { isFull } from '../how-many.ts'
import { byteModelShape, writeByteModel } from './byte-model.ts'
import { engineContract } from './contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'coa-wasm-'))
const model = writeByteModel(folder)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The library's memories: their size is exact, where that of the process depends on when garbage is collected. */
const memories: { buffer: ArrayBufferLike }[] = []
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: { Memory: new (descriptor: object) => { buffer: ArrayBufferLike } }
}
WebAssembly.Memory = class extends WebAssembly.Memory {
  constructor(descriptor: object) {
    super(descriptor)
    memories.push(this)
  }
}

// The graphs are those of the native library, which has the contract tested every time; below, every operation is compared.
if (isFull)
  engineContract('embedded, wasm', {
    open: () => openEmbedded({ model, device: 'wasm', threads: 1 }),
    tolerance: 1e-4,
    bitEqual: true,
  })

it.each([1, 2])('matches the native library, with %i threads', async (threads) => {
  const differences = await compareDevices(
    await openRuntime({ device: 'wasm', threads }),
    await openRuntime({ threads: 1 }),
  )
  for (const [name, difference] of Object.entries(differences)) expect(difference, name).toBeLessThan(1e-5)
})

it('replaces a native library that cannot be loaded', () => {
  const hide = join(folder, 'hide.mjs')
  writeFileSync(
    hide,
    `import { registerHooks } from 'node:module'
     registerHooks({
       resolve(name, context, next) {
         if (/onnxruntime-node.dist.index.js$/.test(name)) throw new Error('wrong libc\\nand more')
         return next(name, context)
       },
     })`,
  )
  const program = `
    import { openEmbedded } from ${JSON.stringify(new URL('../../src/engine/index.ts', import.meta.url).href)}
    const engine = await openEmbedded({ model: ${JSON.stringify(model)}, threads: 1 })
    const [sample] = await engine.sample({ prompt: [1, 2, 3], maxTokens: 4, seed: 1 })
    const rejected = await openEmbedded({ model: ${JSON.stringify(model)}, device: 'webgpu' }).catch((error) => error.message)
    console.log(JSON.stringify({ device: engine.describe().device, tokens: [...sample.tokens], rejected }))
    await engine.close()`
  const file = join(folder, 'program.mjs')
  writeFileSync(file, program)
  const output = execFileSync(process.execPath, ['--import', hide, file], { encoding: 'utf8' })
  expect(JSON.parse(output)).toEqual({
    device: 'wasm, 1 threads (slow: onnxruntime-node cannot be loaded: wrong libc)',
    tokens: [expect.any(Number), expect.any(Number), expect.any(Number), expect.any(Number)],
    rejected: 'The WebGPU device needs the native library: onnxruntime-node cannot be loaded: wrong libc.',
  })
})

it('frees the memory of every pass and graph', async () => {
  const shape = { ...byteModelShape, width: 128, headWidth: 32, feedForwardWidth: 512 }
  const runtime = await openRuntime({ device: 'wasm', threads: 1 })
  const store = new ParameterStore(
    runtime,
    parameterShapes(shape, undefined),
    randomWeights(shape, 1),
    undefined,
  )
  const trainer = new Trainer(runtime, shape, store, {})
  /** More shapes than cached graphs, so that some are evicted and rebuilt. */
  const round = async (): Promise<void> => {
    for (const length of [10, 20, 40, 50, 70, 100, 130, 150, 160]) {
      for (const count of [1, 2]) {
        const tokens = Array.from({ length }, (_, at) => at)
        const examples = Array.from({ length: count }, () => ({ tokens, weights: tokens.map(() => 1e-3) }))
        await trainer.pass(examples, { kind: 'cross-entropy' }, () => undefined)
      }
      await trainer.step({ learningRate: 1e-3 })
    }
  }
  const rounds = async (count: number): Promise<number> => {
    for (let at = 0; at < count; at++) await round()
    return memories.reduce((total, { buffer }) => total + buffer.byteLength, 0) / 2 ** 20
  }
  const before = await rounds(1)
  const after = await rounds(3)
  await trainer.release()
  // Each of the 54 passes outputs 2 MB of gradients, and builds or finds a graph of several MB.
  expect(before).toBeGreaterThan(10)
  expect(after - before).toBeLessThan(10)
})
