import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readGguf } from '../../../src/engine/gguf/read-gguf.ts'
import { writeGguf } from '../../../src/engine/gguf/write-gguf.ts'
import {
  byteTokenizerWithTags,
  exportGguf,
  importGguf,
  type ModelShape,
  openCheckpoint,
  randomWeights,
  saveCheckpoint,
  shapeOfSizes,
} from '../../../src/engine/index.ts'
import { openTokenizer } from '../../../src/language/tokens/index.ts'
import { trainTokenizer } from '../../../src/language/tokens/train/index.ts'
import { texts } from './trained-models.ts'

const folder = mkdtempSync(join(tmpdir(), 'coa-gguf-models-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const createdAt = '2026-01-01T00:00:00Z'
const learned = await trainTokenizer(texts, {
  vocabularySize: 300,
  tags: ['<think>'],
  bosToken: '<|im_start|>',
})

let count = 0
function write(
  sizes: Partial<ModelShape>,
  tokenizer: { json: Record<string, unknown>; config: Record<string, unknown> } = learned,
): string {
  const path = join(folder, `model-${count++}`)
  const family = sizes.family ?? 'llama'
  const shape: ModelShape = {
    ...shapeOfSizes({ family, width: 64, layers: 2, heads: 4, feedForwardWidth: 96, contextLength: 512 }),
    vocabularySize: 320,
    endTokens: [2, 0],
    padToken: 0,
    beginToken: 1,
    ...sizes,
  }
  const weights = randomWeights(shape, count)
  // Constant norms and biases would hide a mistake.
  for (const { values } of weights.values()) for (const index of values.keys()) values[index]! += index / 997
  saveCheckpoint(path, {
    shape,
    weights,
    stage: 'init',
    step: 0,
    createdAt,
    files: {
      'tokenizer.json': JSON.stringify(tokenizer.json),
      'tokenizer_config.json': JSON.stringify(tokenizer.config),
    },
  })
  return path
}

const kinds: [string, Partial<ModelShape>][] = [
  ['llama', {}],
  ['llama with biases', { projectionBias: { queryKeyValue: true, output: true, feedForward: true } }],
  ['llama, untied, with wider heads', { tiedHead: false, headWidth: 32 }],
  ['qwen2', { family: 'qwen2', ropeBase: 1_000_000, normEpsilon: 1e-5 }],
  ['qwen3', { family: 'qwen3', headWidth: 24 }],
  ['linear RoPE scaling', { ropeScaling: { kind: 'linear', factor: 2.5 } }],
  [
    'llama3 RoPE scaling',
    {
      headWidth: 64,
      ropeBase: 500_000,
      ropeScaling: {
        kind: 'llama3',
        factor: 8,
        lowFrequencyFactor: 1,
        highFrequencyFactor: 4,
        originalContext: 8192,
      },
    },
  ],
  [
    'yarn',
    {
      family: 'qwen3',
      ropeScaling: { kind: 'yarn', factor: 4, originalContext: 128, betaFast: 32, betaSlow: 1 },
    },
  ],
  [
    'yarn with an attention factor',
    {
      ropeScaling: {
        kind: 'yarn',
        factor: 4,
        originalContext: 128,
        attentionFactor: 1.5,
        betaFast: 32,
        betaSlow: 1,
      },
    },
  ],
]

describe('a model written as GGUF and imported again', () => {
  it.each(kinds)('%s is the same', async (_, sizes) => {
    const from = write(sizes)
    const file = `${from}.gguf`
    exportGguf(from, file, { type: 'F32' })
    const { shape, manifest } = importGguf(file, `${from}-again`, { createdAt, elementType: 'F32' })
    const before = openCheckpoint(from)
    const after = openCheckpoint(`${from}-again`)
    expect(after.shape).toEqual(before.shape)
    expect(shape).toEqual(before.shape)
    expect([...after.weights.keys()].sort()).toEqual([...before.weights.keys()].sort())
    for (const [name, tensor] of before.weights) expect(after.weights.get(name), name).toEqual(tensor)
    expect(manifest.stage).toBe('import')
    const [one, other] = await Promise.all([from, `${from}-again`].map(openTokenizer))
    expect(other!.describe()).toEqual(one!.describe())
    for (const text of [...texts, 'a <think>b <|im_end|> c']) {
      for (const specials of ['text', 'recognize'] as const) {
        expect(other!.encodeIds(text, { specials })).toEqual(one!.encodeIds(text, { specials }))
      }
    }
    expect(other!.chatTemplate()).toBe(one!.chatTemplate())
  })

  it('recovers unusual llama3 RoPE settings from the table', () => {
    const from = write({
      headWidth: 64,
      ropeScaling: {
        kind: 'llama3',
        factor: 32,
        lowFrequencyFactor: 2,
        highFrequencyFactor: 6,
        originalContext: 1000,
      },
    })
    exportGguf(from, `${from}.gguf`, { type: 'F32' })
    importGguf(`${from}.gguf`, `${from}-again`, { createdAt })
    exportGguf(`${from}-again`, `${from}-again.gguf`, { type: 'F32' })
    const [one, other] = [`${from}.gguf`, `${from}-again.gguf`].map((path) => {
      const { start, bytes } = readGguf(path).tensors.get('rope_freqs.weight')!
      return { start, bytes }
    })
    expect(other!.bytes).toBe(one!.bytes)
    const { shape } = openCheckpoint(`${from}-again`)
    expect(shape.ropeScaling).toMatchObject({ kind: 'llama3', factor: 32, lowFrequencyFactor: 1 })
    const scaling = shape.ropeScaling as { highFrequencyFactor: number; originalContext: number }
    // Half the factor with half the context gives the same frequencies.
    expect(scaling.highFrequencyFactor).toBeCloseTo(3, 2)
    expect(scaling.originalContext).toBeCloseTo(500, -1)
  })

  it('keeps the built-in tokenizer, which has no merges', async () => {
    const from = write({ vocabularySize: 260 }, byteTokenizerWithTags(['<answer>']))
    exportGguf(from, `${from}.gguf`)
    importGguf(`${from}.gguf`, `${from}-again`, { createdAt, elementType: 'F16' })
    const tokenizer = await openTokenizer(`${from}-again`)
    const text = 'Grüße <answer>'
    expect([...tokenizer.encodeIds(text)]).toEqual([...Buffer.from('Grüße '), 259])
    const [before, after] = [from, `${from}-again`].map((path) => openCheckpoint(path).weights)
    const name = 'model.layers.1.self_attn.q_proj.weight'
    for (const [index, value] of before!.get(name)!.values.entries()) {
      expect(Math.abs(after!.get(name)!.values[index]! - value)).toBeLessThan(0.01)
    }
  })
})

describe('unsupported models', () => {
  const message = (act: () => unknown): string => {
    try {
      act()
    } catch (error) {
      const { message: text, fix } = error as Error & { fix: string }
      return `${text} | ${fix}`
    }
    throw new Error('no error was thrown')
  }

  it('reports what llama.cpp does not support', () => {
    const unsupported: [Partial<ModelShape>, string][] = [
      [
        { ropeScaling: { kind: 'yarn', factor: 2, originalContext: 64, betaFast: 24, betaSlow: 1 } },
        'does not support yarn with bounds other than 32 and 1 (24 and 1)',
      ],
      [{ family: 'qwen2', headWidth: 8 }, 'heads of 8 are not as wide as the model (64)'],
      [
        { family: 'qwen3', projectionBias: { queryKeyValue: true, output: true, feedForward: false } },
        'attention biases in a qwen3 model',
      ],
    ]
    for (const [sizes, text] of unsupported) {
      const from = write(sizes)
      expect(message(() => exportGguf(from, `${from}.gguf`))).toContain(text)
    }
  })

  it('rejects tokenizers that llama.cpp would read differently', () => {
    const pattern = write(
      {},
      {
        ...learned,
        json: JSON.parse(JSON.stringify(learned.json).replace('[^\\\\r', '[^\\\\t\\\\r')) as Record<
          string,
          unknown
        >,
      },
    )
    expect(message(() => exportGguf(pattern, `${pattern}.gguf`))).toMatch(
      /^the pattern .* cannot be written to a GGUF file: .* \| Convert the folder, .* with llama.cpp/,
    )
    const unigram = write(
      {},
      { json: { ...learned.json, model: { type: 'Unigram', vocab: [['a', 0]] } }, config: {} },
    )
    expect(message(() => exportGguf(unigram, `${unigram}.gguf`))).toContain('a tokenizer of type Unigram')
  })

  it('never overwrites existing files', () => {
    const from = write({})
    writeFileSync(`${from}.gguf`, 'mine')
    expect(message(() => exportGguf(from, `${from}.gguf`))).toContain('already exists | Choose another file')
    rmSync(`${from}.gguf`)
    exportGguf(from, `${from}.gguf`)
    const other = mkdtempSync(join(folder, 'other-'))
    writeFileSync(join(other, 'letter.txt'), 'mine')
    expect(message(() => importGguf(`${from}.gguf`, other, { createdAt }))).toContain(
      'is not a coa checkpoint',
    )
  })

  it('reports why a file cannot be imported', () => {
    const from = write({})
    exportGguf(from, `${from}.gguf`, { type: 'F32' })
    const { metadata } = readGguf(`${from}.gguf`)
    const changed = (key: string, value: Parameters<typeof metadata.set>[1]): string => {
      const path = join(folder, `changed-${count++}.gguf`)
      writeGguf(path, new Map([...metadata, [key, value]]), [])
      return message(() => importGguf(path, join(folder, 'never'), { createdAt }))
    }
    expect(changed('general.architecture', { type: 'string', value: 'gemma' })).toContain(
      'its architecture is gemma',
    )
    expect(changed('llama.expert_count', { type: 'uint32', value: 8 })).toContain('mixture of experts')
    expect(changed('split.count', { type: 'uint16', value: 2 })).toContain('llama-gguf-split --merge')
    expect(changed('llama.block_count', { type: 'string', value: '2' })).toContain(
      'llama.block_count is string instead of a number',
    )
    expect(changed('tokenizer.ggml.model', { type: 'string', value: 'llama' })).toContain(
      '--tokenizer FOLDER',
    )
    expect(changed('tokenizer.ggml.pre', { type: 'string', value: 'viking' })).toContain('"viking"')
    expect(changed('llama.context_length', { type: 'uint32', value: 0 })).toContain('contextLength is 0')
    expect(changed('coa.fingerprint', { type: 'string', value: '' })).toContain(
      'it declares 2 layers but has 0 tensors',
    )
  })
})
