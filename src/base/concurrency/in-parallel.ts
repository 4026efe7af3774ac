/**
 * Processes items in order with limited concurrency, taking each from its source only when a worker is free. After
 * the first failure no new item is started; the error is thrown once the running ones have ended, so that nothing
 * writes to a run after its owner has closed it.
 */
export async function inParallel<T>(
  items: Iterable<T> | AsyncIterable<T>,
  concurrency: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const iterator = Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]()
  const failures: unknown[] = []
  let taken = 0
  let turn: Promise<unknown> = Promise.resolve()
  const take = (): Promise<IteratorResult<T>> => {
    const next = turn.then(() => iterator.next())
    turn = next.catch(() => undefined)
    return next
  }
  const worker = async (): Promise<void> => {
    try {
      for (let step = await take(); step.done !== true && failures.length === 0; step = await take())
        await work(step.value, taken++)
    } catch (error) {
      failures.push(error)
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, concurrency) }, worker))
  if (failures.length === 0) return
  await iterator.return?.()
  throw failures[0]
}
