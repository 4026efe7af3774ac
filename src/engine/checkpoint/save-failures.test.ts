import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { tinyLlama } from '../../../test/engine/checkpoint/tiny-models.ts'
import { temporaryFolder } from '../../../test/store/support/temporary-folder.ts'
import { openCheckpoint, verifyCheckpoint } from './checkpoint.ts'
import { EngineError } from './engine-error.ts'
import { randomWeights } from './random-weights.ts'
import { type CheckpointContents, saveCheckpoint } from './save-checkpoint.ts'

/** Counts calls that write to disk and makes one of them fail, as on a full disk. */
const disk = vi.hoisted(() => ({ calls: 0, failAt: 0 }))

vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>()
  const failing = <T extends (...given: never[]) => unknown>(act: T): T =>
    ((...given: Parameters<T>) => {
      if (++disk.calls === disk.failAt)
        throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' })
      return act(...given)
    }) as T
  return {
    ...real,
    openSync: failing(real.openSync),
    writeSync: failing(real.writeSync as (...given: never[]) => number),
    fsyncSync: failing(real.fsyncSync),
    renameSync: failing(real.renameSync),
    mkdirSync: failing(real.mkdirSync as (...given: never[]) => undefined),
    cpSync: failing(real.cpSync),
  }
})

const shape = {
  ...tinyLlama,
  vocabularySize: 8,
  width: 8,
  layers: 1,
  heads: 2,
  keyValueHeads: 1,
  headWidth: 4,
  feedForwardWidth: 8,
}

function contents(seed: number): CheckpointContents {
  return {
    shape,
    weights: randomWeights(shape, seed),
    files: { 'tokenizer.json': '{}' },
    optimizer: { step: seed, tensors: new Map(), metadata: {} },
    stage: 'sft',
    step: seed,
    createdAt: '2026-01-02T03:04:05.000Z',
  }
}

test('whichever call fails, either the old or the new checkpoint is complete', () => {
  const parent = temporaryFolder()
  const folder = join(parent, 'latest')
  const outcomes = { failed: 0, saved: 0 }
  saveCheckpoint(folder, contents(0))
  let before = 0
  for (let failAt = 1; ; failAt++) {
    Object.assign(disk, { calls: 0, failAt })
    let failed = false
    try {
      saveCheckpoint(folder, contents(failAt))
    } catch (error) {
      expect(error).toBeInstanceOf(EngineError)
      expect((error as EngineError).fix).toMatch(/\w/)
      failed = true
    }
    const reached = disk.calls >= failAt
    disk.failAt = 0
    const { step } = verifyCheckpoint(folder)
    expect(step).toBe(failed ? before : failAt)
    expect(openCheckpoint(folder).weights).toEqual(contents(step).weights)
    expect(readdirSync(parent)).toEqual(['latest'])
    before = step
    outcomes[failed ? 'failed' : 'saved']++
    if (!reached) break
  }
  expect(outcomes.failed).toBeGreaterThan(30)
  expect(outcomes.saved).toBeGreaterThan(0)
})
