import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { pause } from '../../base/retry/index.ts'

/** Runs work under a lock file; other processes wait, unless the holder has died. */
export async function withLockFile<T>(
  file: string,
  work: () => Promise<T>,
  { onWait, signal }: { onWait?: () => void; signal?: AbortSignal | undefined } = {},
): Promise<T> {
  let waited = false
  while (!claim(file)) {
    if (!waited) onWait?.()
    waited = true
    await pause(500, signal)
  }
  try {
    return await work()
  } finally {
    rmSync(file, { force: true })
  }
}

function claim(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  try {
    process.kill(Number(readFileSync(file, 'utf8')) || process.pid, 0)
  } catch (error) {
    // The holder has died, or the file is gone, which the next attempt detects.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') rmSync(file, { force: true })
  }
  return false
}
