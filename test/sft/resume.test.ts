import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Engine, readCheckpointManifest } from '../../src/engine/index.ts'
import type { Tokenizer } from '../../src/language/tokens/index.ts'
import { type SftContext, run as sft, sftCurve } from '../../src/stages/sft/index.ts'
import type { Run } from '../../src/store/index.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'
import { configOf, engineOf, openStudent, runIn, settings, sftContext, sums, tinyModel } from './support.ts'

let folder: string
let student: { engine: Engine; tokenizer: Tokenizer }
let run: Run

beforeEach(async () => {
  folder = temporaryFolder()
  student = await openStudent(await tinyModel(folder))
  run = runIn(folder)
})

afterEach(async () => {
  run.close()
  await student.engine.close()
})

const contextOf = (changes: Partial<SftContext> = {}): SftContext => sftContext({ run, student, ...changes })

const curve = (): unknown[] => sftCurve(run.metrics()).map(({ tokensPerSecond: _, ...row }) => row)
describe('interrupted training resumes', () => {
  it.each(['in a step', 'in an evaluation'])('%s, with the same numbers', async (where) => {
    await sft(configOf(settings), contextOf())
    const uninterrupted = curve()
    run.close()
    await student.engine.close()
    const other = temporaryFolder()
    student = await openStudent(await tinyModel(other))
    run = runIn(other)
    const controller = new AbortController()
    const { engine } = student
    const stop = (): void => controller.abort(new Error('enough'))
    let passes = 0
    const interrupting: Engine = {
      ...engineOf(engine),
      forward: (...given) => {
        if (where === 'in an evaluation') stop()
        return engine.forward(...given)
      },
      forwardBackward: (...given) => {
        const pass = engine.forwardBackward(...given)
        if (where === 'in a step' && ++passes === 5) stop()
        return pass
      },
    }
    const stopped = contextOf({ signal: controller.signal, student: { ...student, engine: interrupting } })
    await expect(sft(configOf(settings), stopped)).rejects.toThrow('enough')
    const { step } = readCheckpointManifest(join(run.files.checkpoints, 'sft-last'))!
    // A step that has started may still be finished.
    expect(where === 'in a step' ? [4, 5] : [4]).toContain(step)
    await sft(configOf(settings), contextOf())
    expect(curve()).toEqual(uninterrupted)
  })

  it('from a checkpoint that was being replaced when the process was killed', async () => {
    await sft(configOf(settings), contextOf())
    const [uninterrupted, { step: total }] = [curve(), run.get('checkpoint', 'sft-last')!]
    run.close()
    await student.engine.close()
    const other = temporaryFolder()
    student = await openStudent(await tinyModel(other))
    run = runIn(other)
    const dying: Engine = { ...engineOf(student.engine) }
    dying.forwardBackward = (...given) => {
      if (run.get('checkpoint', 'sft-last')?.step === 6) throw new Error('killed')
      return student.engine.forwardBackward(...given)
    }
    const killed = contextOf({ student: { ...student, engine: dying } })
    await expect(sft(configOf(settings), killed)).rejects.toThrow('killed')
    // Between the two renames: the old checkpoint moved away, the new one not yet in place.
    const { checkpoints } = run.files
    renameSync(join(checkpoints, 'sft-last'), join(checkpoints, '.sft-last.coa-previous'))
    await student.engine.close()
    student = await openStudent(join(other, 'model'))
    await sft(configOf(settings), contextOf())
    expect(curve()).toEqual(uninterrupted)
    // Step 7 may have been taken while the checkpoint after step 6 was saved.
    expect([total, total + 1]).toContain([...run.metrics()].length)
  })

  it('refuses to resume with other settings or sequences, and restarts if asked to', async () => {
    await sft(configOf({ ...settings, max_steps: 3 }), contextOf())
    const before = curve()
    const other = configOf({ ...settings, max_steps: 3, learning_rate: 2e-3 })
    await expect(sft(other, contextOf())).rejects.toMatchObject({
      message: expect.stringContaining('trained to step 3 with other sequences, settings or another model'),
      fix: expect.stringContaining('--again'),
    })
    const fewer = contextOf({ data: () => sums(29) })
    await expect(sft(configOf({ ...settings, max_steps: 3 }), fewer)).rejects.toThrow('other sequences')
    await sft(configOf({ ...settings, max_steps: 3, save_every: 2, eval_every: 1 }), contextOf())
    expect(curve()).toEqual(before)
    await student.engine.close()
    student = await openStudent(join(folder, 'model'))
    await sft(other, contextOf({ again: true }))
    expect(curve()).not.toEqual(before)
    expect(curve().length).toBe(3)
  })
})
