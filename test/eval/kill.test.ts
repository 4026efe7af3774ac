import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { isFull } from '../how-many.ts'
import { expectSuccess, startProgram } from '../store/support/child-program.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'

const program = join(import.meta.dirname, 'evaluate-to-the-end.ts')
const KILLS = isFull ? 10 : 5

it('gives the same report, byte for byte, after several kills', async () => {
  const [whole, broken] = [temporaryFolder(), temporaryFolder()]
  await expectSuccess(startProgram(program, whole))
  let kills = 0
  for (; kills < KILLS; kills++) {
    const child = startProgram(program, broken)
    await Promise.race([once(child.stdout!, 'data'), once(child, 'close')])
    await setTimeout(20 + 15 * kills)
    if (child.exitCode !== null) break
    child.kill('SIGKILL')
    await once(child, 'close')
  }
  expect(kills).toBe(KILLS)
  await expectSuccess(startProgram(program, broken))
  for (const end of ['json', 'md', 'html']) expect(reportOf(broken, end)).toBe(reportOf(whole, end))
  const lines = readFileSync(join(broken, 'runs/run/events.jsonl'), 'utf8').trim().split('\n')
  // An attempt that failed outside the solver is retried by the next process.
  const attempts = lines.filter((line) => line.includes('"kind":"attempt"') && !line.includes('"failure":'))
  const failed = new Set(lines.flatMap((line) => /"id":"([^"]*)".*"failure":/.exec(line)?.[1] ?? []))
  expect(attempts.length + failed.size).toBe(2 * 40 * 4)
})

function reportOf(folder: string, end: string): string {
  return readFileSync(join(folder, `runs/run/eval/eval.${end}`), 'utf8')
}
