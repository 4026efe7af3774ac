import { asText, at, idOf, isObject, listOf, textOf } from '../json.ts'

/** A message of Semantic Kernel, whose content is in `items`, as messages in OpenAI's form; any other as it is. */
export function fromSemanticKernel(message: unknown): unknown[] {
  const items = listOf(at(message, 'items'))
  const isOwn = isObject(message) && message['content_type'] === 'message' && items.length > 0
  if (!isOwn) return [message]
  const ofType = (type: string): unknown[] => items.filter((item) => at(item, 'content_type') === type)
  const results = ofType('function_result').map((item) => ({
    role: 'tool',
    tool_call_id: idOf(at(item, 'id') ?? at(item, 'call_id')),
    name: textOf(at(item, 'name')),
    content: asText(at(item, 'result')),
  }))
  const calls = ofType('function_call').map((item) => ({
    id: idOf(at(item, 'id') ?? at(item, 'call_id')),
    type: 'function',
    function: { name: at(item, 'name'), arguments: at(item, 'arguments') },
  }))
  const content = ofType('text')
    .map((item) => asText(at(item, 'text')))
    .join('\n')
  const thought = ofType('reasoning')
    .map((item) => asText(at(item, 'text')))
    .join('\n')
  if (results.length > 0 && calls.length === 0 && content === '') return results
  const name = textOf(message['name'])
  const written = {
    role: message['role'],
    content,
    ...(name === undefined ? {} : { name }),
    ...(thought === '' ? {} : { reasoning_content: thought }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
  return [written, ...results]
}
