/**
 * Works on items in order, so many at a time. After the first failure nothing new is begun, and it is thrown when what was
 * under way has ended: nobody writes to a run that its owner has closed.
 */
export async function inParallel<T>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const open = [...items]
  const failures: unknown[] = []
  const worker = async (): Promise<void> => {
    for (let item = open.shift(); item !== undefined; item = open.shift()) {
      try {
        await work(item)
      } catch (error) {
        failures.push(error)
        open.length = 0
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker))
  if (failures.length > 0) throw failures[0]
}
