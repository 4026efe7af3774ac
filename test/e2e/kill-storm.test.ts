import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import type { EvalReport } from '../../src/schema/index.ts'
import { cleanEnvironment, coaJson } from '../cli/coa.ts'
import { isFull } from '../how-many.ts'
import { randomFrom } from '../store/support/crash-record.ts'

/** Takes minutes; the quickstart's own test kills it once. */
const KILLS = 25
const launcher = fileURLToPath(new URL('../../bin/coa.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'coa-storm-'))
afterAll(() => rmSync(folder, { recursive: true }))

interface Result {
  run: string
  seconds: number
  stages: { name: string; figures: Record<string, number> }[]
  eval: Omit<EvalReport, 'items'>
}

it.runIf(isFull)(
  `the quickstart comes to the same table after ${KILLS} kills at random moments`,
  async () => {
    const calm = mkdtempSync(join(folder, 'calm-'))
    const undisturbed = coaJson<Result>(['quickstart', '--fast'], { cwd: calm })
    const random = randomFrom(25)
    const killedIn: string[] = []
    const survivors: { result: Result; cwd: string }[] = []
    let cwd = mkdtempSync(join(folder, 'stormy-'))
    for (;;) {
      // Up to nearly a whole run: a resumed one is further along, so that every stage is hit.
      const delay = killedIn.length < KILLS ? 500 + random() * undisturbed.seconds * 800 : undefined
      const { result, stage } = await quickstart(cwd, delay)
      if (result === undefined) killedIn.push(stage)
      else {
        survivors.push({ result, cwd })
        cwd = mkdtempSync(join(folder, 'stormy-'))
        if (delay === undefined) break
      }
    }
    console.log(
      `${KILLS} kills and ${survivors.length} runs that came to their end; killed in ${killedIn.join(', ')}`,
    )
    for (const stage of ['sft', 'rl', 'eval']) expect(killedIn).toContain(stage)
    for (const survivor of survivors) {
      expect(readdirSync(join(survivor.cwd, 'runs'))).toEqual([survivor.result.run])
      expect(timeless(survivor.result.eval)).toEqual(timeless(undisturbed.eval))
    }
  },
)

/** Everything except timings. */
function timeless(report: Result['eval']) {
  return { ...report, solvers: report.solvers.map(({ ms: _, ...solver }) => solver) }
}

/** Starts or resumes a quickstart, and kills it after some milliseconds if it has not finished. */
async function quickstart(
  cwd: string,
  delay: number | undefined,
): Promise<{ result?: Result; stage: string }> {
  const child = spawn(process.execPath, [launcher, 'quickstart', '--fast', '--json'], {
    cwd,
    env: cleanEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stage = 'nothing'
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    stage = /^\W*(\w+)/.exec(piece.trim().split('\n').at(-1) ?? '')?.[1] ?? stage
  })
  const stdout = text(child.stdout)
  const closed = once(child, 'close')
  await (delay === undefined ? closed : Promise.race([setTimeout(delay), closed]))
  child.kill('SIGKILL')
  await closed
  if (child.signalCode === 'SIGKILL') return { stage }
  expect(child.exitCode, stage).toBe(0)
  return { result: JSON.parse(await stdout) as Result, stage }
}
