import { asText, at, isObject, parsedOr, textOf } from '../json.ts'

const roles: Readonly<Record<string, string>> = {
  human: 'user',
  user: 'user',
  gpt: 'assistant',
  assistant: 'assistant',
  system: 'system',
  observation: 'tool',
  tool: 'tool',
  function_call: 'assistant',
}

/** A message as ShareGPT has it, `{ from, value }`, in OpenAI's form; any other as it is. Calls are JSON in a turn of their own. */
export function fromShareGpt(message: unknown): unknown {
  const [from, value] = [textOf(at(message, 'from')), textOf(at(message, 'value'))]
  const role = roles[from ?? '']
  if (role === undefined || value === undefined || at(message, 'role') !== undefined) return message
  if (from !== 'function_call') return { role, content: value }
  const read = parsedOr(value)
  const calls = Array.isArray(read) ? read : [read]
  if (!calls.every((call) => isObject(call) && textOf(call['name']) !== undefined))
    return { role, content: value }
  const tool_calls = calls.map((call) => ({
    name: asText(at(call, 'name')),
    arguments: at(call, 'arguments'),
  }))
  return { role, content: null, tool_calls }
}
