import { setTimeout as sleep } from 'node:timers/promises'

/**
 * How long to wait before another attempt, the first repetition being number 0: twice as long each time, and spread by
 * chance, so that many that failed together do not come back together.
 */
export function backOff(attempt: number, firstMs: number, longestMs: number): number {
  return Math.min(longestMs, firstMs * 2 ** attempt) * (0.75 + Math.random() / 2)
}

/** Waits; a signal that fires ends the wait with its reason. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => signal?.throwIfAborted())
}

/** How long a server asks to be left alone, if it says so: in milliseconds, in seconds, or until a date. */
export function retryAfterMs(header: (name: string) => string | null | undefined): number | undefined {
  const milliseconds = header('retry-after-ms')
  if (isAmount(milliseconds)) return Number(milliseconds)
  const value = header('retry-after')
  if (isAmount(value)) return Number(value) * 1000
  const date = Date.parse(value ?? '')
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now())
}

function isAmount(text: string | null | undefined): text is string {
  return /^\d+(\.\d+)?$/.test(text ?? '')
}
