import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { pause } from '../../base/retry/index.ts'

/** Does something that two processes must not do at once; the second waits, unless the first one is gone. */
export async function oneAtATime<T>(
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
    // Its maker is gone; or the file is, which the next attempt finds out.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') rmSync(file, { force: true })
  }
  return false
}
