import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { readCheckpointManifest, verifyCheckpoint } from '../../src/engine/index.ts'
import { sftCurve } from '../../src/stages/sft/index.ts'
import { openRun } from '../../src/store/index.ts'
import { isFull } from '../how-many.ts'
import { expectSuccess, startProgram } from '../store/support/child-program.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'
import { tinyModel } from './support.ts'

const program = join(import.meta.dirname, 'train-to-the-end.ts')
const KILLS = isFull ? 8 : 5

it('gives the same curve and weights, however often it is killed', async () => {
  const [whole, broken] = [temporaryFolder(), temporaryFolder()]
  await Promise.all([tinyModel(whole), tinyModel(broken)])
  await expectSuccess(startProgram(program, whole))
  let kills = 0
  for (; kills < KILLS; kills++) {
    const child = startProgram(program, broken)
    // Every other kill is among the first steps or saves, the others anywhere, including while reading.
    if (kills % 2 === 0) await Promise.race([once(child.stdout!, 'data'), once(child, 'close')])
    await setTimeout(Math.random() * (kills % 2 === 0 ? 250 : 1500))
    if (child.exitCode !== null) break
    child.kill('SIGKILL')
    await once(child, 'close')
  }
  expect(kills).toBeGreaterThan(2)
  await expectSuccess(startProgram(program, broken))
  const [expected, found] = [resultOf(whole), resultOf(broken)]
  expect(expected.rows.length).toBeGreaterThan(30)
  expect(new Set(expected.rows.map(({ context }) => context))).toEqual(new Set([110, 256]))
  expect(found.curve).toEqual(expected.curve)
  expect(found.fingerprints).toEqual(expected.fingerprints)
  console.info(`${kills} kills: ${found.written} rows were written for ${expected.rows.length} steps`)
  expect(found.written).toBeGreaterThan(expected.written)
})

it('resumes from a checkpoint saved by time, after however few steps', async () => {
  const folder = temporaryFolder()
  await tinyModel(folder)
  const child = startProgram(program, folder, 'by time alone')
  const saved = join(folder, 'run', 'checkpoints', 'sft-last')
  while (!existsSync(saved) && child.exitCode === null) await setTimeout(20)
  child.kill('SIGKILL')
  await once(child, 'close')
  const { step } = readCheckpointManifest(saved)!
  expect(step).toBeGreaterThan(0)
  const resumed = startProgram(program, folder, 'by time alone')
  const [first] = await once(resumed.stdout!, 'data')
  resumed.kill('SIGKILL')
  await once(resumed, 'close')
  expect(Number(String(first).split('\n')[0])).toBe(step + 1)
})

function resultOf(folder: string) {
  using run = openRun(join(folder, 'run'))
  const written = [...run.metrics()].length
  const rows = sftCurve(run.metrics())
  const fingerprints = ['sft', 'sft-last'].map((name) => {
    const manifest = verifyCheckpoint(join(run.files.checkpoints, name))
    expect(run.get('checkpoint', name)).toMatchObject({ step: manifest.step, files: manifest.files })
    return manifest.fingerprint
  })
  return { written, rows, fingerprints, curve: rows.map(({ tokensPerSecond: _, ...row }) => row) }
}
