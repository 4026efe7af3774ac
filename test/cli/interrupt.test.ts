import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readCheckpointManifest } from '../../src/engine/index.ts'
import { openRun } from '../../src/store/index.ts'
import { cleanEnvironment, coaJson } from './coa.ts'

const launcher = fileURLToPath(new URL('../../bin/coa.js', import.meta.url))
const cwd = mkdtempSync(join(tmpdir(), 'coa-interrupt-'))
afterAll(() => rmSync(cwd, { recursive: true }))

const set = (...pairs: string[]): string[] => pairs.flatMap((pair) => ['--set', pair])
const quick = set('sandbox.driver=pyodide', 'filter.min_interactions=0', 'filter.near_duplicates=false')
let dir: string

beforeAll(() => {
  coaJson(['teach', '--suites', 'math', '-n', '4', ...quick], { cwd })
  coaJson(['distill', 'latest'], { cwd })
  coaJson(['filter', 'latest', ...quick], { cwd })
  dir = join(cwd, 'runs', readdirSync(join(cwd, 'runs'))[0]!)
}, 120_000)

function stepsOf(stage: string): number[] {
  using run = openRun(dir)
  return [...run.metrics()]
    .filter((row) => row['stage'] === stage && row['begins'] !== true)
    .map((row) => Number(row['step']))
}

/** Trains, presses Ctrl-C once three more steps have been taken, and returns the output. */
async function interrupted(stage: 'sft' | 'rl', args: string[]): Promise<string> {
  const before = stepsOf(stage).length
  const child = spawn(process.execPath, [launcher, stage, 'latest', ...args], {
    cwd,
    env: cleanEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const stderr = text(child.stderr)
  const closed = once(child, 'close')
  while (stepsOf(stage).length < before + 3 && child.exitCode === null) await setTimeout(50)
  child.kill('SIGINT')
  await closed
  expect([child.exitCode, child.signalCode], await stderr).toEqual([130, null])
  return stderr
}

/** The step in the one line that says what was saved. */
function savedStep(stderr: string): number {
  const lines = stderr.split('\n').filter((line) => line.includes('saved after step'))
  expect(lines, stderr).toEqual([expect.stringMatching(/^coa: saved after step \d+\. Run the same command/)])
  return Number(/\d+/.exec(lines[0]!)![0])
}

// Starts processes, possibly on a busy machine.
describe('Ctrl-C', { timeout: 300_000 }, () => {
  it('saves SFT, which resumes after the last step', async () => {
    const args = set(
      'sft.epochs=500',
      'sft.batch_tokens=1000',
      'sft.save_every=1000000',
      'sft.save_seconds=1000000',
      'sft.eval_share=0',
    )
    const first = savedStep(await interrupted('sft', args))
    expect(stepsOf('sft').at(-1)).toBe(first)
    expect(readCheckpointManifest(join(dir, 'checkpoints', 'sft-last'))?.step).toBe(first)
    const second = savedStep(await interrupted('sft', args))
    // Every step once: nothing was lost or repeated.
    expect(stepsOf('sft')).toEqual(Array.from({ length: second }, (_, index) => index + 1))
  })

  it('saves RL, which resumes after the last step', async () => {
    const args = set(
      'sandbox.driver=pyodide',
      'rl.model=nano',
      'rl.steps=500',
      'rl.groups=1',
      'rl.group_size=2',
      'rl.dynamic_sampling=false',
      'rl.save_every=1000000',
      'rl.save_seconds=1000000',
      'rollout.max_tokens=30',
    )
    savedStep(await interrupted('rl', args))
    const second = savedStep(await interrupted('rl', args))
    expect(stepsOf('rl')).toEqual(Array.from({ length: second }, (_, index) => index + 1))
  })

  it('pressed again, exits immediately', async () => {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'stubborn.ts')])
    const closed = once(child, 'close')
    await once(child.stdout, 'data')
    const noticed = once(child.stderr, 'data')
    child.kill('SIGINT')
    await noticed
    expect(child.exitCode ?? child.signalCode).toBe(null)
    child.kill('SIGINT')
    await closed
    expect(child.signalCode).toBe('SIGINT')
  })
})
