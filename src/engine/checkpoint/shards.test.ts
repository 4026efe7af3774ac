import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../../test/store/support/temporary-folder.ts'
import { EngineError } from './engine-error.ts'
import { findWeightFiles, INDEX_FILE, readWeights } from './shards-read.ts'
import { writeWeights } from './shards-write.ts'
import type { StoredTensors } from './stored-tensor.ts'

function tensorsOf(sizes: number[]): StoredTensors {
  return new Map(sizes.map((size, i) => [`t${i}`, { shape: [size], values: new Float32Array(size).fill(i) }]))
}

test('shards stay within their size limit and together contain the model', () => {
  const sizes = fc.array(fc.nat(20), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(sizes, fc.integer({ min: 1, max: 200 }), fc.boolean(), (each, maxShardBytes, half) => {
      const folder = temporaryFolder()
      const weights = tensorsOf(each)
      const elementType = half ? 'BF16' : 'F32'
      const names = writeWeights(folder, weights, { maxShardBytes, elementType })
      expect(readdirSync(folder).sort()).toEqual([...names].sort())
      const found = findWeightFiles(folder)
      expect(readWeights(found)).toEqual(weights)
      for (const tensors of found.files.values()) {
        const bytes = [...tensors.values()].map(({ start, end }) => end - start).filter((size) => size > 0)
        expect(bytes.length <= 1 || bytes.reduce((sum, size) => sum + size, 0) <= maxShardBytes).toBe(true)
      }
      expect(names.length === 1).toBe(found.files.has('model.safetensors'))
    }),
    { numRuns: 60 },
  )
})

function sharded(change: (index: { weight_map: Record<string, string> }) => unknown): string {
  const folder = temporaryFolder()
  writeWeights(folder, tensorsOf([4, 4, 4]), { maxShardBytes: 32 })
  const path = join(folder, INDEX_FILE)
  const index = JSON.parse(readFileSync(path, 'utf8'))
  expect(index).toEqual({
    metadata: { total_size: 48 },
    weight_map: {
      t0: 'model-00001-of-00002.safetensors',
      t1: 'model-00001-of-00002.safetensors',
      t2: 'model-00002-of-00002.safetensors',
    },
  })
  writeFileSync(path, JSON.stringify(change(index)))
  return folder
}

/** The index with t0 assigned to another file. */
function moved(file: string): Parameters<typeof sharded>[0] {
  return ({ weight_map }) => ({ weight_map: { ...weight_map, t0: file } })
}

test.each<[string, Parameters<typeof sharded>[0], RegExp]>([
  [
    'a tensor in no shard',
    ({ weight_map: map }) => ({ weight_map: { ...map, t9: map['t0'] } }),
    /t9 is not in/,
  ],
  ['a tensor in another shard', moved('model-00002-of-00002.safetensors'), /t0 is not in .*contains t0/],
  [
    'an unlisted tensor',
    ({ weight_map: { t1: _, ...map } }) => ({ weight_map: map }),
    /contains t1, which the index/,
  ],
  ['a path out of the folder', moved('../x.safetensors'), /not a shard of this folder/],
  ['an absolute path', moved('/etc/x.safetensors'), /not a shard of this folder/],
  ['a path with backslashes', moved('..\\x.safetensors'), /not a shard of this folder/],
  ['a file of another kind', moved('config.json'), /not a shard of this folder/],
  ['a missing shard', moved('model-3.safetensors'), /shards are missing: model-3/],
  ['no map', () => ({}), /no "weight_map"/],
  ['a map of numbers', () => ({ weight_map: { t0: 1 } }), /no "weight_map"/],
])('%s is rejected', (_, change, message) => {
  const folder = sharded(change)
  expect(() => findWeightFiles(folder)).toThrow(EngineError)
  expect(() => findWeightFiles(folder)).toThrow(message)
})

test('a missing shard, and a folder without weights', () => {
  const folder = sharded((index) => index)
  rmSync(join(folder, 'model-00002-of-00002.safetensors'))
  expect(() => findWeightFiles(folder)).toThrow(/shards are missing: model-00002-of-00002/)
  const empty = temporaryFolder()
  expect(() => findWeightFiles(empty)).toThrow(/has no model.safetensors/)
  writeFileSync(join(empty, 'pytorch_model.bin'), '')
  expect(() => findWeightFiles(empty)).toThrow(
    expect.objectContaining({ fix: expect.stringMatching(/convert/) }),
  )
})
