import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openCheckpoint, verifyCheckpoint } from '../../../src/engine/checkpoint/checkpoint.ts'
import { randomWeights } from '../../../src/engine/checkpoint/random-weights.ts'
import { saveCheckpoint } from '../../../src/engine/checkpoint/save-checkpoint.ts'
import { temporaryFolder } from '../../store/support/temporary-folder.ts'
import { tinyLlama } from './tiny-models.ts'

const program = join(import.meta.dirname, 'save-repeatedly.ts')

test('a process killed while saving leaves a complete checkpoint: the last one reported, or the next', async () => {
  const parent = temporaryFolder()
  const folder = join(parent, 'latest')
  let next = 1
  for (let round = 0; round < 8; round++) {
    const child = spawn(process.execPath, [program, folder, String(next)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.on('data', (text) => {
      output += text
    })
    await Promise.race([once(child.stdout, 'data'), once(child, 'close')])
    expect(child.exitCode).toBeNull()
    await setTimeout(Math.random() * 60)
    child.kill('SIGKILL')
    await once(child, 'close')
    const last = Number(output.trim().split('\n').at(-1))
    const { step } = verifyCheckpoint(folder)
    expect(step === last || step === last + 1).toBe(true)
    expect(openCheckpoint(folder).weights).toEqual(randomWeights(tinyLlama, step))
    next = step + 1
  }
  const contents = { shape: tinyLlama, weights: randomWeights(tinyLlama, 0) }
  saveCheckpoint(folder, { ...contents, stage: 'rl', step: next, createdAt: '2026-01-02T03:04:05.000Z' })
  expect(readdirSync(parent)).toEqual(['latest'])
})
