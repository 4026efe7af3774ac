import { at, isObject, type JsonObject, listOf, textOf } from './json.ts'

export const sessionOf = (line: unknown): string | undefined =>
  textOf(at(line, 'session_id')) ?? textOf(at(line, 'sessionId'))

export const idOf = (line: unknown): string | undefined => textOf(at(line, 'uuid'))

/** Python's messages have no ids where they are the app's own, and no roles. */
export const isFromPython = (line: unknown): boolean => at(line, 'parent_tool_use_id') !== undefined

/**
 * A message in the form that the Claude Agent SDK has in TypeScript. In Python, messages and blocks are data classes; what is saved of
 * them has neither roles nor types, or has the name of the class.
 */
export function lineOf(value: unknown): unknown {
  if (!isObject(value) || at(value, 'message') !== undefined) return value
  const { content, subtype, data, ...rest } = value
  if ('parent_tool_use_id' in value && content !== undefined) {
    const role = 'model' in value ? 'assistant' : 'user'
    const id = textOf(value['message_id'])
    const message = { role, content: withTypes(content), ...(id === undefined ? {} : { id }) }
    return { ...rest, type: role, message }
  }
  if (typeof subtype !== 'string') return value
  if (isObject(data) && sessionOf(data) !== undefined) return { ...rest, ...data, type: 'system', subtype }
  return 'num_turns' in value ? { uuid: `${sessionOf(value)} end`, ...value, type: 'result' } : value
}

const withTypes = (content: unknown): unknown =>
  Array.isArray(content)
    ? listOf(content).map((block) => (isObject(block) ? withType(block) : block))
    : content

function withType(block: JsonObject): JsonObject {
  if ('type' in block) return block
  const type =
    'thinking' in block
      ? 'thinking'
      : 'tool_use_id' in block
        ? 'tool_result'
        : 'input' in block
          ? 'tool_use'
          : 'text'
  return { ...block, type }
}
