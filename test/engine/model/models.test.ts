import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as web from 'onnxruntime-web'
import { afterAll, describe, expect, it } from 'vitest'
import {
  byteTokenizerWithTags,
  checkEngine,
  convertModel,
  type Engine,
  exportOnnx,
  inspectModel,
  modelPresets,
  newModel,
  openCheckpoint,
  openEmbedded,
  parameterCount,
  type SizedShape,
  shapeOfSizes,
  verifyCheckpoint,
} from '../../../src/engine/index.ts'
import { openTokenizer } from '../../../src/language/tokens/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'coa-models-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const createdAt = '2026-01-01T00:00:00Z'
const sizes = { width: 32, layers: 2, heads: 4, keyValueHeads: 2, contextLength: 96 } as const

/** A large initializer range, so that an untrained model is not uniform. */
async function made(name: string, shape: Partial<SizedShape> = {}): Promise<string> {
  const path = join(folder, name)
  await newModel(path, {
    shape: { ...shapeOfSizes(sizes), initializerRange: 0.15, ...shape },
    tokenizer: byteTokenizerWithTags(['<think>', '</think>']),
    seed: 5,
    createdAt,
  })
  return path
}

describe('a new model', () => {
  it.each([
    ['nano', 1e6],
    ['micro', 3e6],
    ['mini', 10e6],
  ] as const)('%s has about %i parameters', (preset, about) => {
    const shape = shapeOfSizes({}, preset)
    expect([32, 64]).toContain(shape.headWidth)
    expect(shape.width).toBe(modelPresets[preset].width)
    const count = parameterCount({ ...shape, vocabularySize: 2048, endTokens: [] })
    expect(Math.abs(count / about - 1)).toBeLessThan(0.1)
  })

  it('derives the other sizes from the width, and rejects impossible ones', () => {
    expect(shapeOfSizes({ width: 256 })).toMatchObject({
      heads: 4,
      headWidth: 64,
      keyValueHeads: 2,
      feedForwardWidth: 768,
    })
    expect(shapeOfSizes({ family: 'qwen2' }).projectionBias.queryKeyValue).toBe(true)
    expect(shapeOfSizes({ family: 'qwen3' }).queryKeyNorm).toBe(true)
    expect(() => shapeOfSizes({ width: 100, heads: 7 })).toThrow(/7 heads/)
  })

  it('is a checkpoint with a tokenizer in which each tag is one token', async () => {
    const path = await made('new')
    expect(verifyCheckpoint(path)).toMatchObject({ stage: 'init', step: 0, metadata: { seed: 5 } })
    const tokenizer = await openTokenizer(path)
    expect([...tokenizer.encodeIds('<think>é</think>')]).toEqual([259, 0xc3, 0xa9, 260])
    expect(tokenizer.decode([259, 0xc3, 0xa9, 260])).toBe('<think>é</think>')
    const report = await inspectModel(path)
    expect(report).toMatchObject({
      elementTypes: { F32: report.parameters },
      optimizer: undefined,
      shape: { vocabularySize: 261, endTokens: [258] },
      tokenizer: { vocabularySize: 261, eosToken: '<|im_end|>' },
    })
  })

  it('copies the tokenizer of another folder', async () => {
    const from = await made('lender')
    const path = join(folder, 'borrower')
    await newModel(path, { shape: shapeOfSizes(sizes), tokenizer: from, seed: 1, createdAt })
    expect(readFileSync(join(path, 'tokenizer.json'))).toEqual(readFileSync(join(from, 'tokenizer.json')))
  })

  it('does not overwrite a folder that is not a checkpoint', async () => {
    const path = join(folder, 'precious')
    await made('precious')
    rmSync(join(path, 'coa-checkpoint.json'))
    await expect(made('precious')).rejects.toThrow(/not a coa checkpoint/)
  })
})

describe('a converted model', () => {
  it('has the same weights in fewer bits, sharded, and names its parent', async () => {
    const from = await made('long')
    const to = join(folder, 'short')
    const manifest = convertModel(from, to, { elementType: 'BF16', maxShardBytes: 20_000, createdAt })
    expect(manifest).toMatchObject({ stage: 'init', parent: verifyCheckpoint(from).id, parentPath: from })
    const report = await inspectModel(to)
    expect(report.weightFiles.length).toBeGreaterThan(1)
    expect(report.elementTypes).toEqual({ BF16: report.parameters })
    const [before, after] = [openCheckpoint(from).weights, openCheckpoint(to).weights]
    for (const [name, { values }] of before) {
      const worst = values.map((value, at) => Math.abs(value - after.get(name)!.values[at]!))
      expect(Math.max(...worst)).toBeLessThan(0.005)
    }
  })

  it('leaves out the optimizer state', async () => {
    const from = join(folder, 'trained')
    const engine = await openEmbedded({ model: await made('untrained'), threads: 1 })
    await engine.forwardBackward([{ tokens: [1, 2, 3], weights: [0, 1, 1] }], { kind: 'cross-entropy' })
    await engine.optimStep({ learningRate: 1e-3 })
    await engine.save(from, { stage: 'sft', step: 1, createdAt })
    await engine.close()
    expect((await inspectModel(from)).optimizer).toMatchObject({ step: 1 })
    convertModel(from, join(folder, 'without'), { createdAt })
    expect((await inspectModel(join(folder, 'without'))).optimizer).toBe(undefined)
    expect(() => convertModel(from, from, { createdAt })).toThrow(/onto itself/)
  })
})

describe('an ONNX file', () => {
  it.each([
    ['llama', {}],
    ['llama, untied, with RoPE scaling', { tiedHead: false, ropeScaling: { kind: 'linear', factor: 2 } }],
    [
      'qwen2',
      { family: 'qwen2', projectionBias: { queryKeyValue: true, output: false, feedForward: false } },
    ],
    ['qwen3', { family: 'qwen3', queryKeyNorm: true, keyValueHeads: 4 }],
  ] as [string, Partial<SizedShape>][])(
    'of %s matches the log-probabilities of the engine',
    async (name, shape) => {
      const model = await made(name, shape)
      const { file, notes } = exportOnnx(model, join(folder, `${name}.onnx`))
      expect(JSON.parse(readFileSync(`${file}.json`, 'utf8'))).toEqual(notes)
      expect(readFileSync(file).includes('coa.contextLength')).toBe(true)
      const session = await web.InferenceSession.create(file)
      const engine = await openEmbedded({ model, threads: 1 })
      for (const length of [1, 2, 50, 96]) {
        const tokens = Array.from({ length }, (_, at) => (at * 89 + 7) % 261)
        const { logprobs } = await engine.forward([{ tokens, weights: tokens.map(() => 1) }])
        const ids = new web.Tensor('int64', BigInt64Array.from(tokens, BigInt), [1, length])
        const output = (await session.run({ ids }))['logprobs']!
        expect(output.dims).toEqual([1, length, 261])
        const rows = output.data as Float32Array
        for (let at = 1; at < length; at++)
          expect(Math.abs(rows[(at - 1) * 261 + tokens[at]!]! - logprobs[0]![at]!)).toBeLessThan(1e-4)
      }
      await engine.close()
      await session.release()
    },
  )

  it('above 2 GB is rejected before any weight is read', async () => {
    const path = await made('huge')
    const config = join(path, 'config.json')
    const text = readFileSync(config, 'utf8')
    // The RoPE tables alone are that large.
    writeFileSync(
      config,
      text.replace('"max_position_embeddings": 96', '"max_position_embeddings": 99999999'),
    )
    expect(() => exportOnnx(path, join(folder, 'huge.onnx'))).toThrow(/2 GB/)
    expect(existsSync(join(folder, 'huge.onnx'))).toBe(false)
  })
})

describe('the self-check', () => {
  it("passes on the embedded engine, and leaves the user's model unchanged", async () => {
    const model = await made('checked')
    const report = await checkEngine({ model, threads: 1 })
    expect(report.checks.filter(({ ok }) => !ok)).toEqual([])
    expect(report.checks.length).toBe(5)
    verifyCheckpoint(model)
  })

  it('detects an engine with a wrong learner, gradient or checkpoint', async () => {
    const model = await made('cheated')
    const failures = async (cheat: (engine: Engine) => Partial<Engine>): Promise<string[]> => {
      const open = async (path: string): Promise<Engine> => {
        const engine = await openEmbedded({ model: path, threads: 1 })
        const honest: Engine = {
          describe: () => engine.describe(),
          sample: (request) => engine.sample(request),
          forward: (examples) => engine.forward(examples),
          forwardBackward: (examples, loss) => engine.forwardBackward(examples, loss),
          optimStep: (settings) => engine.optimStep(settings),
          save: (to, note) => engine.save(to, note),
          load: (from) => engine.load(from),
          close: () => engine.close(),
        }
        return { ...honest, ...cheat(engine) }
      }
      const { ok, checks } = await checkEngine({ model, open })
      expect(ok).toBe(false)
      return checks.filter((check) => !check.ok).map(({ name }) => name)
    }
    expect(
      await failures((engine) => ({
        forward: async (examples) => {
          const result = await engine.forward(examples)
          return { ...result, logprobs: result.logprobs.map((each) => each.map((value) => value * 1.01)) }
        },
      })),
    ).toContain('sampler matches learner')
    expect(
      await failures((engine) => ({
        optimStep: async (settings) => {
          const result = await engine.optimStep(settings)
          return { ...result, gradientNorm: result.gradientNorm * 1.02 }
        },
      })),
    ).toEqual(['gradient check'])
    expect(await failures(() => ({ save: () => Promise.reject(new Error('the disk is full')) }))).toEqual([
      'save and load',
    ])
  })
})
