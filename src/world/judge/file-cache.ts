import { appendFile, mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { JudgeCache } from './cache.ts'

/** Reasons are only read by people, and short lines keep appends atomic. */
const reasonLimit = 500

/**
 * A file with one judgement per line that several processes can share: each appends whole lines and reads what the
 * others have added since its last read. Broken lines are skipped.
 */
export function fileJudgeCache(file: string): JudgeCache {
  return fileCache(file, ({ isCorrect, reason }) =>
    typeof isCorrect === 'boolean'
      ? { isCorrect, reason: typeof reason === 'string' ? reason : '' }
      : undefined,
  )
}

/** The same for any judgement with a reason; `read` returns undefined for a line that is not one. */
export function fileCache<Reply extends { reason: string }>(
  file: string,
  read: (fields: Record<string, unknown>) => Reply | undefined,
): JudgeCache<Reply> {
  const entries = new Map<string, Reply>()
  let position = 0
  let reading: Promise<void> | undefined

  const refresh = (): Promise<void> => {
    reading ??= readNewLines()
      .catch(() => undefined)
      .finally(() => {
        reading = undefined
      })
    return reading
  }

  async function readNewLines(): Promise<void> {
    const handle = await open(file, 'r')
    try {
      const { size } = await handle.stat()
      if (size <= position) return
      const buffer = Buffer.alloc(size - position)
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, position)
      // The last line may still be incomplete; it is read next time.
      const end = buffer.subarray(0, bytesRead).lastIndexOf(10) + 1
      position += end
      for (const line of buffer.toString('utf8', 0, end).split('\n')) remember(line)
    } finally {
      await handle.close()
    }
  }

  function remember(line: string): void {
    try {
      const { key, ...fields } = JSON.parse(line) as Record<string, unknown>
      const reply = read(fields)
      if (typeof key === 'string' && reply !== undefined) entries.set(key, reply)
    } catch {
      // A partial line from a process that was killed.
    }
  }

  return {
    async get(key) {
      if (!entries.has(key)) await refresh()
      return entries.get(key)
    },
    async set(key, reply) {
      entries.set(key, reply)
      const line = JSON.stringify({ key, ...reply, reason: reply.reason.slice(0, reasonLimit) })
      try {
        await mkdir(dirname(file), { recursive: true })
        // The leading newline terminates a line that another process left incomplete.
        await appendFile(file, `\n${line}\n`)
      } catch {
        // Without the file, the judgement is only cached in memory.
      }
    },
  }
}
