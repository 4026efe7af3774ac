import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { temporaryFolder } from '../../test/store/support/temporary-folder.ts'
import { StoreError } from '../base/errors/index.ts'
import { processStart } from '../base/processes/index.ts'
import { acquireLock, type LockOwner, readLock, removeOldClaims } from './lock.ts'

/** Above the maximum process id on Linux. */
const NOBODY = 4_999_999

function writeLock(path: string, owner: Partial<LockOwner>): LockOwner {
  const whole = {
    pid: NOBODY,
    host: hostname(),
    command: 'coa old',
    startedAt: 'then',
    token: 'old',
    ...owner,
  }
  writeFileSync(path, JSON.stringify(whole))
  return whole
}

test('is held until released, and reports its owner to others', () => {
  const path = join(temporaryFolder(), 'lock')
  const lock = acquireLock(path, 'coa teach')
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(lock.owner)
  expect(lock.takenOver).toBeUndefined()
  let error: unknown
  try {
    acquireLock(path, 'coa rl')
  } catch (caught) {
    error = caught
  }
  expect(error).toBeInstanceOf(StoreError)
  expect((error as StoreError).message).toContain(
    `process ${process.pid} (coa teach) since ${lock.owner.startedAt}`,
  )
  expect((error as StoreError).fix).toContain(`kill ${process.pid}`)
  lock.release()
  acquireLock(path, 'coa rl').release()
  expect(readdirSync(join(path, '..'))).toEqual([])
})

test('takes over from a dead owner, and reports it', () => {
  const path = join(temporaryFolder(), 'lock')
  const old = writeLock(path, {})
  const lock = acquireLock(path, 'coa')
  expect(lock.takenOver).toEqual(old)
  expect(readLock(path)).toEqual(lock.owner)
  lock.release()
  expect(readdirSync(join(path, '..'))).toEqual([])
})

test.runIf(processStart(process.pid) !== undefined)('a reused process id does not hold the lock', () => {
  const path = join(temporaryFolder(), 'lock')
  writeLock(path, { pid: process.pid, processStart: 'another-boot:1' })
  expect(acquireLock(path, 'coa').takenOver?.token).toBe('old')
  writeLock(path, { pid: process.pid, processStart: processStart(process.pid) ?? '' })
  expect(() => acquireLock(path, 'coa')).toThrow(/is locked/)
  writeLock(path, { pid: process.pid })
  expect(() => acquireLock(path, 'coa')).toThrow(/is locked/)
})

test('an owner on another machine or in a replaced container counts as alive while it touches its lock', () => {
  const path = join(temporaryFolder(), 'lock')
  const old = writeLock(path, { host: 'far-away' })
  expect(() => acquireLock(path, 'coa')).toThrow(/on far-away \(coa old\) since then/)
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)
  utimesSync(path, minutesAgo(4), minutesAgo(4))
  expect(() => acquireLock(path, 'coa')).toThrow(/on far-away/)
  utimesSync(path, minutesAgo(6), minutesAgo(6))
  const lock = acquireLock(path, 'coa')
  expect(lock.takenOver).toEqual(old)
  lock.release()
})

test('the holder keeps touching its lock', () => {
  vi.useFakeTimers()
  try {
    const path = join(temporaryFolder(), 'lock')
    const lock = acquireLock(path, 'coa')
    utimesSync(path, 0, 0)
    vi.advanceTimersByTime(60_000)
    expect(statSync(path).mtimeMs).toBeGreaterThan(0)
    writeLock(path, { token: 'theirs' })
    utimesSync(path, 0, 0)
    vi.advanceTimersByTime(60_000)
    expect(statSync(path).mtimeMs).toBe(0)
    lock.release()
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
  }
})

test.runIf(process.platform === 'linux')('a zombie owner is dead', async () => {
  const path = join(temporaryFolder(), 'lock')
  // The shell becomes `sleep`, which never reaps its child.
  const parent = spawn('sh', ['-c', 'sh -c "sleep 0.5" & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [line] = await once(parent.stdout, 'data')
    const pid = Number(String(line))
    await vi.waitFor(() => expect(readFileSync(`/proc/${pid}/stat`, 'utf8')).toContain(') Z '), 30_000)
    expect(process.kill(pid, 0)).toBe(true)
    writeLock(path, { pid, processStart: processStart(pid) ?? '' })
    expect(acquireLock(path, 'coa').takenOver?.pid).toBe(pid)
  } finally {
    parent.kill('SIGKILL')
  }
})

test('respects the claim of a live process and takes over that of a dead one', () => {
  const path = join(temporaryFolder(), 'lock')
  writeLock(path, {})
  writeLock(`${path}.claim-old`, { pid: process.pid, token: 'claim', command: 'coa taker' })
  expect(() => acquireLock(path, 'coa')).toThrow(/coa taker/)
  writeLock(`${path}.claim-old`, { token: 'claim' })
  writeLock(`${path}.claim-old.claim-claim`, { token: 'second' })
  const lock = acquireLock(path, 'coa')
  expect(lock.takenOver?.token).toBe('old')
  writeLock(`${path}.claim-other`, { token: 'left' })
  removeOldClaims(path)
  expect(readdirSync(join(path, '..'))).toEqual(['lock'])
})

test('reports a damaged lock file', () => {
  const path = join(temporaryFolder(), 'lock')
  writeFileSync(path, '')
  expect(() => acquireLock(path, 'coa')).toThrow(/is damaged/)
})

test('release keeps a lock that belongs to someone else', () => {
  const path = join(temporaryFolder(), 'lock')
  const lock = acquireLock(path, 'coa')
  writeLock(path, { token: 'theirs' })
  lock.release()
  expect(readLock(path)?.token).toBe('theirs')
})
