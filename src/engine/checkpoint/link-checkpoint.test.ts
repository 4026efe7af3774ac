import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { tinyLlama } from '../../../test/engine/checkpoint/tiny-models.ts'
import { temporaryFolder } from '../../../test/store/support/temporary-folder.ts'
import { openCheckpoint, verifyCheckpoint } from './checkpoint.ts'
import { linkCheckpoint } from './link-checkpoint.ts'
import { randomWeights } from './random-weights.ts'
import { saveCheckpoint } from './save-checkpoint.ts'

it('shares the weights of a checkpoint and leaves out its optimizer state', () => {
  const [from, to] = [join(temporaryFolder(), 'from'), join(temporaryFolder(), 'to')]
  const note = { stage: 'sft' as const, step: 3, createdAt: '2026-01-02T03:04:05.000Z' }
  const tensors = new Map([['first a', { shape: [1], values: Float32Array.of(1) }]])
  saveCheckpoint(from, {
    ...note,
    shape: tinyLlama,
    weights: randomWeights(tinyLlama, 1),
    optimizer: { step: 3, tensors, metadata: {} },
    metadata: { kept: true },
  })
  linkCheckpoint(from, to, { ...note, stage: 'rl', metadata: { added: 1 } })
  const manifest = verifyCheckpoint(to)
  expect(manifest).toMatchObject({ stage: 'rl', step: 3, metadata: { kept: true, added: 1 } })
  expect(existsSync(join(to, 'optimizer.safetensors'))).toBe(false)
  expect(existsSync(join(to, 'model.safetensors.index.json'))).toBe(false)
  const [one, other] = [from, to].map((folder) => statSync(join(folder, 'model.safetensors')))
  expect(other!.ino).toBe(one!.ino)
  expect(openCheckpoint(to).weights).toEqual(openCheckpoint(from).weights)
})
