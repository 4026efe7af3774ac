import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readGguf, readGgufTensor } from '../../../src/engine/gguf/read-gguf.ts'
import type { WritableType } from '../../../src/engine/gguf/tensor-types.ts'
import { writeGguf } from '../../../src/engine/gguf/write-gguf.ts'
import {
  byteTokenizerWithTags,
  exportGguf,
  importGguf,
  newModel,
  openCheckpoint,
  parameterCount,
  readCheckpointHeaders,
  shapeOfSizes,
} from '../../../src/engine/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'coa-tied-head-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const createdAt = '2026-01-01T00:00:00Z'
const source = join(folder, 'source.gguf')
const model = join(folder, 'source')
const shape = {
  ...shapeOfSizes({ width: 64, layers: 1, heads: 4, feedForwardWidth: 96, contextLength: 64 }),
  tiedHead: false,
}
await newModel(model, { shape, tokenizer: byteTokenizerWithTags([]), seed: 1, createdAt })
exportGguf(model, source, { type: 'F32' })
const embedding = openCheckpoint(model).weights.get('model.embed_tokens.weight')!

let count = 0
/** The model with another head, both matrices in the given types. */
function withHead(
  types: { embedding: WritableType; head: WritableType },
  head?: (value: number) => number,
): string {
  const file = join(folder, `head-${count++}.gguf`)
  const { metadata, tensors } = readGguf(source)
  const outgoing = [...tensors.values()].map((tensor) => {
    const isHead = tensor.name === 'output.weight'
    const type: WritableType = isHead
      ? types.head
      : tensor.name === 'token_embd.weight'
        ? types.embedding
        : 'F32'
    const values = () =>
      isHead && head !== undefined ? embedding.values.map(head) : readGgufTensor(source, tensor)
    return { name: tensor.name, shape: tensor.shape, type, values }
  })
  writeGguf(file, metadata, outgoing)
  return file
}

const imported = (file: string, options: { keepHead?: boolean } = {}) => {
  const out = `${file}-model`
  const report = importGguf(file, out, { createdAt, elementType: 'F32', ...options })
  return { ...report, weights: openCheckpoint(out).weights }
}

describe('an output head that is a copy of the embedding', () => {
  it.each([
    ['F32', 'F32', 'F32'],
    ['Q8_0', 'F16', 'F16'],
    ['F16', 'Q8_0', 'F16'],
    ['Q8_0', 'Q8_0', 'Q8_0'],
  ] as const)('%s and %s are tied, and the %s copy is kept', (one, other, kept) => {
    const file = withHead({ embedding: one, head: other }, (value) => value)
    const { tied, shape: found, weights } = imported(file)
    expect(tied).toMatchObject({ embedding: one, head: other, kept })
    expect(found.tiedHead).toBe(true)
    expect(weights.has('lm_head.weight')).toBe(false)
    const { tensors } = readGguf(file)
    const better = tensors.get(other === kept && one !== kept ? 'output.weight' : 'token_embd.weight')!
    expect(weights.get('model.embed_tokens.weight')!.values).toEqual(readGgufTensor(file, better))
  })

  it('is kept on request', () => {
    const { tied, shape: found } = imported(
      withHead({ embedding: 'F16', head: 'Q8_0' }, (value) => value),
      { keepHead: true },
    )
    expect([tied, found.tiedHead]).toEqual([undefined, false])
  })
})

describe('an output head that is not a copy', () => {
  let state = 7
  const noise = () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 30 - 1
  }
  it.each([
    ['trained separately', undefined],
    ['trained a little further', (value: number) => value * (1 + 0.2 * noise())],
    ['scaled', (value: number) => value * 1.1],
    ['of the opposite sign', (value: number) => -value],
  ])('%s is kept', (_, head) => {
    const { tied, shape: found, weights } = imported(withHead({ embedding: 'F16', head: 'Q8_0' }, head))
    expect([tied, found.tiedHead, weights.has('lm_head.weight')]).toEqual([undefined, false, true])
  })
})

it('writes bfloat16 by default, rounded from what the file contains', () => {
  const out = join(folder, 'rounded')
  const report = importGguf(source, out, { createdAt })
  expect(report.manifest.parameters).toBe(parameterCount(readCheckpointHeaders(model).shape))
  const types = [...readCheckpointHeaders(out).weightFiles.files.values()].flatMap((tensors) =>
    [...tensors.values()].map(({ type }) => type),
  )
  expect(new Set(types)).toEqual(new Set(['BF16']))
  const after = openCheckpoint(out).weights.get('model.embed_tokens.weight')!.values
  expect(after.every((value, at) => Math.abs(value - embedding.values[at]!) <= Math.abs(value) / 256)).toBe(
    true,
  )
})

it('rejects a file with NaN, and leaves nothing behind', () => {
  const file = withHead({ embedding: 'F32', head: 'F32' }, () => Number.NaN)
  expect(() => importGguf(file, join(folder, 'nan'), { createdAt })).toThrow(
    'output.weight has NaN or infinite values',
  )
  expect(() => readCheckpointHeaders(join(folder, 'nan'))).toThrow('no checkpoint at')
})
