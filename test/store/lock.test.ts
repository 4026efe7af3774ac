import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { createRun, openRun } from '../../src/store/index.ts'
import { task } from './support/records.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

interface Answer {
  held: boolean
  takenOver?: number
  message?: string
}

interface Holder {
  child: ChildProcess
  answer: Answer
  closed: Promise<unknown>
}

async function startHolder(dir: string): Promise<Holder> {
  const script = join(import.meta.dirname, 'lock-holder.ts')
  const child = spawn(process.execPath, [script, dir], { stdio: ['pipe', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  child.stdin.on('error', () => {})
  const [line] = await once(createInterface(child.stdout), 'line')
  return { child, answer: JSON.parse(line), closed }
}

async function end({ child, closed }: Holder, signal?: 'SIGKILL'): Promise<void> {
  if (signal === undefined) child.stdin?.end()
  else child.kill(signal)
  await closed
}

function newRun(): string {
  const run = createRun(temporaryFolder(), { command: 'test', coa: '0' })
  run.append('task', task('a'))
  run.close()
  return run.dir
}

test('while another process writes, this one gets its name and can read', async () => {
  const dir = newRun()
  const holder = await startHolder(dir)
  const { child, answer } = holder
  expect(answer).toEqual({ held: true })
  expect(() => openRun(dir, { write: true })).toThrow(
    new RegExp(`process ${child.pid} \\(lock-holder\\) since `),
  )
  using reader = openRun(dir)
  expect(reader.count('task')).toBe(1)
  await end(holder)
  using writer = openRun(dir, { write: true })
  expect(writer.recovery.takenOver).toBeUndefined()
})

test('the lock of a killed process is taken over and reported', async () => {
  const dir = newRun()
  const holder = await startHolder(dir)
  await end(holder, 'SIGKILL')
  using writer = openRun(dir, { write: true })
  expect(writer.recovery.takenOver).toMatchObject({ pid: holder.child.pid, command: 'lock-holder' })
})

test('exactly one of many concurrent takeovers gets the lock', async () => {
  const dir = newRun()
  for (let turn = 0; turn < 4; turn++) {
    const victim = await startHolder(dir)
    await end(victim, 'SIGKILL')
    const takers = await Promise.all(Array.from({ length: 5 }, () => startHolder(dir)))
    const holders = takers.filter(({ answer }) => answer.held)
    expect(holders).toHaveLength(1)
    expect(holders[0]?.answer.takenOver).toBe(victim.child.pid)
    for (const { answer } of takers)
      if (!answer.held) expect(answer.message).toMatch(/locked by process \d+ /)
    await Promise.all(takers.map((taker) => end(taker)))
    expect(readdirSync(dir).filter((name) => name.startsWith('lock'))).toEqual([])
  }
})
