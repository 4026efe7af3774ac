import { setTimeout as sleep } from 'node:timers/promises'

/** Exponential backoff with jitter: the delay before retry number `attempt`, counted from 0. */
export function backOff(attempt: number, firstMs: number, longestMs: number): number {
  return Math.min(longestMs, firstMs * 2 ** attempt) * (0.75 + Math.random() / 2)
}

/** Sleeps; rejects with the signal's reason if it is aborted. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => signal?.throwIfAborted())
}

/** The delay requested by a server's retry-after headers: in milliseconds, in seconds, or until a date. */
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
