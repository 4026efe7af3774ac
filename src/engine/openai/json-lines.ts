import { EngineError } from '../checkpoint/index.ts'

/** The objects of a stream of server-sent events (`data: {…}`) or JSON lines. */
export async function* jsonLines(body: ReadableStream<Uint8Array>): AsyncGenerator<unknown> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop()!
    for (const line of lines) yield* objectOf(line)
  }
  yield* objectOf(rest)
}

function* objectOf(line: string): Generator<unknown> {
  const text = line.replace(/^data: ?/, '').trim()
  // Comments, event names and the end marker.
  if (text === '' || text === '[DONE]' || !text.startsWith('{')) return
  let value: { error?: unknown }
  try {
    value = JSON.parse(text) as { error?: unknown }
  } catch (cause) {
    throw new EngineError(`the server sent invalid JSON: ${text.slice(0, 200)}`, {
      fix: 'Check that the URL is that of a model server.',
      cause,
    })
  }
  if (value.error !== undefined && value.error !== null) {
    const { message = JSON.stringify(value.error) } = value.error as { message?: string }
    throw new EngineError(`the server reported an error: ${String(message).slice(0, 500)}`, {
      fix: "See the error and the server's log.",
    })
  }
  yield value
}
