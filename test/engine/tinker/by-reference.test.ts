import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Progress } from '../../../src/base/progress/index.ts'
import { openTinker, readCheckpointManifest, verifyCheckpoint } from '../../../src/engine/index.ts'
import { writeByteModel } from '../byte-model.ts'
import { startTestTrainer, type TestTrainer } from './test-trainer.ts'
import { trainerPython } from './trainer-python.ts'

const note = { stage: 'sft' as const, step: 1, createdAt: '2026-01-02T03:04:05.000Z' }
const examples = [{ tokens: [1, 2, 3, 4, 5, 6], weights: [0, 1, 1, 1, 1, 1] }]

const python = await trainerPython()

describe.skipIf(python === undefined)('a trainer on this machine', () => {
  let trainer: TestTrainer
  beforeAll(async () => {
    trainer = await startTestTrainer(python!)
  }, 120_000)
  afterAll(() => trainer?.stop())

  const inData = (): string[] => globSync('data/**/*.safetensors', { cwd: trainer.folder })

  it('reads and writes folders in place: nothing is transferred', async () => {
    const model = writeByteModel(trainer.folder, 'own')
    const paths: string[] = []
    const told: Progress[] = []
    const engine = await openTinker({
      url: trainer.url,
      model,
      onAnswer: ({ path }) => paths.push(path),
      progress: (each) => told.push(each),
    })
    expect(told[0]).toMatchObject({ stage: 'loading own', unit: 'MB on the trainer' })
    const train = async (): Promise<number> => {
      const { loss } = await engine.forwardBackward(examples, { kind: 'cross-entropy' })
      await engine.optimStep({ learningRate: 1e-2 })
      return loss
    }
    await train()
    const [saved, result] = [join(trainer.folder, 'saved'), join(trainer.folder, 'result')]
    // Training continues before the checkpoint is complete; it has the weights of the time of the call.
    const saving = engine.save(saved, note)
    const expected = [await train(), await train()]
    await saving
    await engine.save(result, note, { optimizer: false })
    verifyCheckpoint(saved)
    verifyCheckpoint(result)
    expect(existsSync(join(result, 'optimizer.safetensors'))).toBe(false)
    await engine.load(saved)
    expect([await train(), await train()]).toEqual(expected)
    await engine.load(result, { fresh: true })
    await engine.close()
    expect(paths.filter((path) => /uploads|files/.test(path))).toEqual([])
    expect(inData()).toEqual([])
    // No proofs or temporary folders are left behind.
    for (const folder of ['.', 'own', 'saved', 'result'])
      expect(globSync(`${folder}/.*`, { cwd: trainer.folder })).toEqual([])
  })

  it('transfers files, with progress, where it cannot', async () => {
    const model = writeByteModel(trainer.folder, 'sent')
    const told: Progress[] = []
    // A client that may repeat requests after a restart does not use folders.
    const engine = await openTinker({
      url: trainer.url,
      model,
      state: join(trainer.folder, 'state.json'),
      progress: (each) => told.push(each),
    })
    await engine.forwardBackward(examples, { kind: 'cross-entropy' })
    await engine.optimStep({ learningRate: 1e-2 })
    const saved = join(trainer.folder, 'downloaded')
    await engine.save(saved, note)
    verifyCheckpoint(saved)
    await engine.load(saved, { fresh: true })
    await engine.close()
    const bytes = readCheckpointManifest(saved)!.files.map(({ path }) => [
      path,
      statSync(join(saved, path)).size,
    ]) as [string, number][]
    const total = bytes.reduce((sum, [, size]) => sum + size, 0)
    const last = (stage: string): Progress | undefined => told.findLast((each) => each.stage === stage)
    expect(last('download')).toMatchObject({ done: total, total, unit: 'bytes' })
    // The optimizer's file stays here.
    const sent = total - statSync(join(saved, 'optimizer.safetensors')).size
    const manifest = readFileSync(join(saved, 'coa-checkpoint.json')).length
    expect(last('upload')).toMatchObject({ done: sent + manifest, total: sent + manifest, unit: 'bytes' })
  })
})
