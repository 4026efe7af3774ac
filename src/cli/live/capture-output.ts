/**
 * Redirects whole lines written to these streams to a function, so that they do not disturb the live view. Returns a
 * function that restores the streams and passes on an incomplete last line.
 */
export function captureOutput(
  streams: readonly NodeJS.WriteStream[],
  take: (lines: string) => void,
): () => void {
  const ends = streams.map((stream) => {
    const original = stream.write
    let rest = ''
    const capture = (chunk: string | Uint8Array, ...others: unknown[]): boolean => {
      rest += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
      const end = rest.lastIndexOf('\n') + 1
      if (end > 0) take(rest.slice(0, end))
      rest = rest.slice(end)
      const done = others.find((other) => typeof other === 'function')
      if (done !== undefined) process.nextTick(done)
      return true
    }
    stream.write = capture as typeof stream.write
    return () => {
      stream.write = original
      if (rest !== '') take(rest)
    }
  })
  return () => {
    for (const end of ends) end()
  }
}
