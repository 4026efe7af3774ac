import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../store/support/temporary-folder.ts'

const program = join(import.meta.dirname, 'evaluate-to-the-end.ts')
const KILLS = 10

it('gives the same report to the byte, killed and resumed ten times', async () => {
  const [whole, broken] = [temporaryFolder(), temporaryFolder()]
  await ended(start(whole))
  let kills = 0
  for (; kills < KILLS; kills++) {
    const child = start(broken)
    await Promise.race([once(child.stdout!, 'data'), once(child, 'close')])
    await setTimeout(20 + 15 * kills)
    if (child.exitCode !== null) break
    child.kill('SIGKILL')
    await once(child, 'close')
  }
  expect(kills).toBe(KILLS)
  await ended(start(broken))
  for (const end of ['json', 'md', 'html']) expect(reportOf(broken, end)).toBe(reportOf(whole, end))
  const lines = readFileSync(join(broken, 'runs/run/events.jsonl'), 'utf8').trim().split('\n')
  expect(lines.filter((line) => line.includes('"kind":"attempt"'))).toHaveLength(2 * 40 * 4)
})

function start(folder: string): ChildProcess {
  return spawn(process.execPath, [program, folder], { stdio: ['ignore', 'pipe', 'inherit'] })
}

async function ended(child: ChildProcess): Promise<void> {
  child.stdout!.resume()
  const [code] = await once(child, 'close')
  expect(code).toBe(0)
}

function reportOf(folder: string, end: string): string {
  return readFileSync(join(folder, `runs/run/eval/eval.${end}`), 'utf8')
}
