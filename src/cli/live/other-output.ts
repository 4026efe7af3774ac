/**
 * Hands whole lines that anyone writes to these streams to the given function instead, so that they do not land in the
 * middle of a picture. Ended by calling what it returns; what then is left of a line is handed over too.
 */
export function catchOutput(
  streams: readonly NodeJS.WriteStream[],
  take: (lines: string) => void,
): () => void {
  const ends = streams.map((stream) => {
    const original = stream.write
    let rest = ''
    const caught = (chunk: string | Uint8Array, ...others: unknown[]): boolean => {
      rest += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
      const end = rest.lastIndexOf('\n') + 1
      if (end > 0) take(rest.slice(0, end))
      rest = rest.slice(end)
      const done = others.find((other) => typeof other === 'function')
      if (done !== undefined) process.nextTick(done)
      return true
    }
    stream.write = caught as typeof stream.write
    return () => {
      stream.write = original
      if (rest !== '') take(rest)
    }
  })
  return () => {
    for (const end of ends) end()
  }
}
