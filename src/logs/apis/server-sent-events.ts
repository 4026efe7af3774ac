import { parseJson } from '../../schema/index.ts'
import { isObject } from '../json.ts'

interface StreamParts {
  /** The data of its events, parsed. */
  events: Record<string, unknown>[]
  /** What is neither an event nor a comment nor the `[DONE]` at its end, such as an event that broke off. */
  unread: string[]
}

/** Whether a text begins as a stream does. */
export const looksStreamed = (text: string): boolean => /^\s*(?:(?:data|event|id|retry) ?:|:)/.test(text)

/** Reads the text of a stream, complete or not. */
export function readStream(text: string): StreamParts {
  const events: StreamParts['events'] = []
  const unread: string[] = []
  let data: string[] = []
  const flush = (): void => {
    const joined = data.join('\n').trim()
    data = []
    if (joined === '' || joined === '[DONE]') return
    const event = objectIn(joined)
    if (event === undefined) unread.push(joined)
    else events.push(event)
  }
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line === '') flush()
    else if (line.startsWith('data:')) data.push(line.slice('data:'.length).replace(/^ /, ''))
    else if (!/^(?:(?:event|id|retry) ?:|:)/.test(line)) unread.push(line)
  }
  // Servers that hang up may have sent a last line whose blank line is missing.
  flush()
  return { events, unread }
}

function objectIn(data: string): Record<string, unknown> | undefined {
  try {
    const value = parseJson(data)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
