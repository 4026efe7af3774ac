export type Limiter = <T>(task: () => Promise<T>, signal?: AbortSignal) => Promise<T>

/**
 * Runs at most `limit` tasks concurrently; the others wait in order, and one whose signal is aborted leaves the
 * queue.
 */
export function limiter(limit: number): Limiter {
  let running = 0
  const waiting = new Set<() => void>()
  const leave = (): void => {
    const [next] = waiting
    // The slot is handed over without decrementing the count, so that no newcomer can take it.
    if (next === undefined) running--
    else next()
  }
  const enter = (signal?: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const stop = (): void => {
        waiting.delete(go)
        reject(signal!.reason)
      }
      const go = (): void => {
        waiting.delete(go)
        signal?.removeEventListener('abort', stop)
        resolve()
      }
      waiting.add(go)
      signal?.addEventListener('abort', stop, { once: true })
    })
  return async (task, signal) => {
    signal?.throwIfAborted()
    if (running >= limit) await enter(signal)
    else running++
    try {
      return await task()
    } finally {
      leave()
    }
  }
}
