/** The elements in groups of `size`; the last one may be smaller. */
export function* inBatches<T>(elements: Iterable<T>, size: number): Generator<T[]> {
  let batch: T[] = []
  for (const element of elements) {
    batch.push(element)
    if (batch.length < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
