import { join } from 'node:path'
import {
  type ModelShape,
  newModel,
  normalized,
  openEmbedded,
  shapeOfSizes,
} from '../../../src/engine/index.ts'
import { openTokenizer } from '../../../src/language/tokens/index.ts'
import { trainTokenizer } from '../../../src/language/tokens/train/index.ts'

const createdAt = '2026-01-01T00:00:00Z'

export const texts = [
  'The quick brown fox jumps over the lazy dog, 12345 times; and it didn’t stop.\n',
  'Was nun? Ein zweiter Satz mit Umlauten: äöüß, und 日本語 dazu.\n',
  'function add(a, b) {\n  return a + b // 42\n}\n',
]

/** Writes a small model that has memorized three texts, so that it is certain of each next token. */
export async function writeTrained(folder: string, sizes: Partial<ModelShape>): Promise<string> {
  const tokenizer = await trainTokenizer(texts, { vocabularySize: 320, tags: ['<think>', '</think>'] })
  const plain = shapeOfSizes({
    family: sizes.family ?? 'llama',
    width: 64,
    layers: 2,
    heads: 4,
    keyValueHeads: 2,
    feedForwardWidth: 96,
    contextLength: 128,
  })
  const fresh = join(folder, 'fresh')
  await newModel(fresh, { shape: { ...plain, ...sizes }, tokenizer, seed: 3, createdAt })
  const engine = await openEmbedded({ model: fresh, threads: 1 })
  const ids = await openTokenizer(fresh)
  const lesson = texts.map((text) => {
    const tokens = [...ids.encodeIds(text), ids.eosId!]
    return { tokens, weights: tokens.map(() => 1) }
  })
  for (let step = 0; step < 40; step++) {
    await engine.forwardBackward(normalized(lesson), { kind: 'cross-entropy' })
    await engine.optimStep({ learningRate: 5e-3, maxNorm: 1 })
  }
  const trained = join(folder, 'trained')
  await engine.save(trained, { stage: 'sft', step: 40, createdAt })
  await engine.close()
  return trained
}
