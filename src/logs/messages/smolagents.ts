import { asText, at, listOf } from '../json.ts'
import { pythonValue } from '../python-literal.ts'
import { contentText } from './openai.ts'

/**
 * The messages that smolagents makes of its memory, in OpenAI's form: calls and results are messages whose roles say so,
 * printed as text. Other messages stay as they are.
 */
export function fromSmolagents(messages: readonly unknown[]): readonly unknown[] {
  if (!messages.some((message) => at(message, 'role') === 'tool-call')) return messages
  const read: unknown[] = []
  let open: readonly unknown[] = []
  for (const message of messages) {
    const role = asText(at(message, 'role'))
    const text = contentText(at(message, 'content'))
    if (role === 'tool-call') {
      open = listOf(pythonValue(text.replace(/^\s*Calling tools:\s*/, '')))
      const before = read.at(-1)
      const continues = at(before, 'role') === 'assistant' && at(before, 'tool_calls') === undefined
      const words = continues ? contentText(at(read.pop(), 'content')) : ''
      read.push({ role: 'assistant', content: words, tool_calls: open })
    } else if (role === 'tool-response') read.push(...resultsOf(text, open))
    else read.push(at(message, 'tool_calls') === null ? { role, content: text } : message)
  }
  return read
}

/** The results of all calls of a step are one text, in which each is a line; otherwise it is that of the last call. */
function resultsOf(text: string, calls: readonly unknown[]): object[] {
  const output = text.replace(/^(?:Call id: \S+\n)?\s*Observation:\n/, '')
  const lines = output.split('\n')
  const outputs = lines.length === calls.length ? lines : [output]
  return outputs.map((content, number) => ({
    role: 'tool',
    content,
    tool_call_id: at(calls[calls.length - outputs.length + number], 'id'),
  }))
}
