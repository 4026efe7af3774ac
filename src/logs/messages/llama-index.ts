import { asText, at, idOf, isObject, listOf, objectOf, textOf } from '../json.ts'

/** A message of LlamaIndex, whose content is in `blocks`, in OpenAI's form; any other as it is. */
export function fromLlamaIndex(message: unknown): unknown {
  const blocks = listOf(at(message, 'blocks'))
  if (!isObject(message) || message['content'] !== undefined || !blocks.every(isBlock)) return message
  if (blocks.length === 0 && !isObject(message['additional_kwargs'])) return message
  const beside = objectOf(message['additional_kwargs'])
  const role = roles[asText(message['role'])] ?? message['role']
  const content = textsOf(blocks, 'text')
  if (role === 'tool')
    return { role, content, tool_call_id: idOf(beside['tool_call_id']), name: textOf(beside['name']) }
  const called = blocks.filter((block) => at(block, 'block_type') === 'tool_call').map(callOf)
  const beside_calls = listOf(beside['tool_calls'])
  const calls = beside_calls.length > 0 ? beside_calls : called
  const thought = textsOf(blocks, 'thinking')
  return {
    role,
    content,
    ...(thought === '' ? {} : { reasoning_content: thought }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}

const roles: Readonly<Record<string, string>> = { model: 'assistant', chatbot: 'assistant', function: 'tool' }

const isBlock = (block: unknown): boolean => typeof at(block, 'block_type') === 'string'

const textsOf = (blocks: readonly unknown[], type: 'text' | 'thinking'): string =>
  blocks
    .filter((block) => at(block, 'block_type') === type)
    .map((block) => asText(at(block, 'text') ?? at(block, 'content')))
    .filter((text) => text !== '')
    .join('\n')

const callOf = (block: unknown): object => ({
  id: at(block, 'tool_call_id'),
  type: 'function',
  function: { name: at(block, 'tool_name'), arguments: at(block, 'tool_kwargs') },
})
