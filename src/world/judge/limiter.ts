/** Lets at most `limit` tasks run at a time; the others wait in order. */
export function limiter(limit: number): <T>(task: () => Promise<T>) => Promise<T> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (task) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await task()
    } finally {
      const next = waiting.shift()
      // The place passes on without being counted down, so that no newcomer slips in between.
      if (next === undefined) running--
      else next()
    }
  }
}
