/**
 * Works on items in order, so many at a time; they are taken from their source only when there is room. After the first
 * failure nothing new is begun, and it is thrown when what was under way has ended: nobody writes to a run that its owner
 * has closed.
 */
export async function inParallel<T>(
  items: Iterable<T> | AsyncIterable<T>,
  most: number,
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
  await Promise.all(Array.from({ length: Math.max(1, most) }, worker))
  if (failures.length === 0) return
  await iterator.return?.()
  throw failures[0]
}
