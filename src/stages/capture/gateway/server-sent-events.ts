import { parseJson } from '../../../schema/index.ts'

/**
 * The data of the events in a stream's text, parsed. Comments, events that are no JSON, such as `[DONE]`, and an event that is
 * not complete are left out.
 */
export function eventsIn(text: string): unknown[] {
  const events: unknown[] = []
  let data: string[] = []
  const lines = text.split(/\r\n|\n|\r/)
  // What follows the last line break is not a line yet.
  for (const line of lines.slice(0, -1)) {
    if (line === '') {
      const event = parsed(data.join('\n'))
      if (event !== undefined) events.push(event)
      data = []
    } else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''))
  }
  // Servers that hang up may have sent a last line whose blank line is missing.
  const rest = parsed(data.join('\n'))
  return rest === undefined ? events : [...events, rest]
}

function parsed(data: string): unknown {
  if (!data.startsWith('{')) return undefined
  try {
    return parseJson(data)
  } catch {
    return undefined
  }
}
