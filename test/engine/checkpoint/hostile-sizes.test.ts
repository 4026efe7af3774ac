import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { readGguf, readGgufTensor } from '../../../src/engine/gguf/read-gguf.ts'
import { writeGguf } from '../../../src/engine/gguf/write-gguf.ts'
import { exportGguf, importGguf, inspectModel, openCheckpoint } from '../../../src/engine/index.ts'
import { byteModelShape, writeByteModel } from '../byte-model.ts'

const folder = mkdtempSync(join(tmpdir(), 'coa-hostile-sizes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

// Without these checks, each of them would build a list of all layers, which never ends.
it.each([1e9, 2 ** 31 - 1, 2 ** 53 - 1])(
  'a config.json with %d layers is rejected before they are listed',
  async (layers) => {
    const model = writeByteModel(folder, `layers-${layers}`)
    const path = join(model, 'config.json')
    const config = JSON.parse(readFileSync(path, 'utf8')) as object
    writeFileSync(path, JSON.stringify({ ...config, num_hidden_layers: layers }))
    const message = `config.json has ${layers} layers, but there are only`
    expect(() => openCheckpoint(model)).toThrow(message)
    await expect(inspectModel(model)).rejects.toThrow(message)
  },
)

/** A valid file with changed metadata. */
function changed(name: string, changes: Record<string, number>, more: Record<string, number[]> = {}): string {
  const valid = join(folder, `${name}-valid.gguf`)
  exportGguf(
    writeByteModel(folder, name, { ...byteModelShape, width: 64, headWidth: 16, feedForwardWidth: 96 }),
    valid,
  )
  const { metadata, tensors } = readGguf(valid)
  for (const [key, value] of Object.entries(changes)) metadata.set(key, { type: 'uint32', value })
  const file = join(folder, `${name}.gguf`)
  writeGguf(file, metadata, [
    ...[...tensors.values()].map((tensor) => ({
      name: tensor.name,
      shape: tensor.shape,
      type: 'F32' as const,
      values: () => readGgufTensor(valid, tensor),
    })),
    ...Object.entries(more).map(([key, values]) => ({
      name: key,
      shape: [values.length],
      type: 'F32' as const,
      values: () => Float32Array.from(values),
    })),
  ])
  return file
}

it('a GGUF file with two billion layers is rejected before they are listed', () => {
  const file = changed('blocks', { 'llama.block_count': 2 ** 31 - 1 })
  expect(() => importGguf(file, join(folder, 'out'), { createdAt: '2026-01-01T00:00:00Z' })).toThrow(
    /it declares 2147483647 layers but has \d+ tensors/,
  )
})

it('a GGUF file with heads of two billion values allocates no table for them', () => {
  const wide = 2 ** 31 - 2
  const file = changed(
    'heads',
    { 'llama.attention.key_length': wide, 'llama.rope.dimension_count': wide },
    { 'rope_freqs.weight': [1, 2, 3, 4] },
  )
  expect(() => importGguf(file, join(folder, 'out'), { createdAt: '2026-01-01T00:00:00Z' })).toThrow(
    'not of the llama3 kind',
  )
})
