import { langChainForm } from './langchain-form.ts'
import { callsOf, messagesOfTurn, type TeamCall, type TeamMessage, type TeamTurn } from './team-run.ts'

/** The shapes in which Langfuse is sent messages. */
export const dialects = ['openai', 'otel', 'anthropic', 'langchain', 'responses'] as const
export type Dialect = (typeof dialects)[number]

/** What a model was sent. */
export function promptIn(dialect: Dialect, messages: readonly TeamMessage[]): object[] {
  return messages.flatMap((message) => messageIn(dialect, message))
}

/** What a model answered, as its integration logs it. */
export function answerIn(dialect: Dialect, turn: TeamTurn): object {
  const message = messageIn(dialect, messagesOfTurn(turn)[0]!)
  switch (dialect) {
    case 'openai':
      return { id: 'chatcmpl-1', choices: [{ index: 0, message: message[0], finish_reason: 'stop' }] }
    case 'otel':
      return message
    case 'responses':
      return { id: 'resp_1', object: 'response', output: message, instructions: null }
    default:
      return message[0]!
  }
}

const argumentsOf = ({ input }: TeamCall): string => JSON.stringify(input)

function messageIn(dialect: Dialect, message: TeamMessage): object[] {
  switch (dialect) {
    case 'openai':
      return [openAi(message)]
    case 'otel':
      return [otel(message)]
    case 'anthropic':
      return [anthropic(message)]
    case 'langchain':
      return [
        langChainForm(message, null, {
          form: 'constructor',
          thoughts: 'content',
          calls: 'tool_calls',
          named: false,
          status: true,
        }),
      ]
    case 'responses':
      return responses(message)
  }
}

export function openAi(message: TeamMessage): object {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.call.id, content: message.output }
  if (message.role !== 'assistant') return { role: message.role, content: message.text }
  const { turn, calls } = message
  return {
    role: 'assistant',
    content: turn.text === '' ? null : turn.text,
    ...(turn.thought === '' ? {} : { reasoning_content: turn.thought }),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map((call) => ({
            id: call.id,
            type: 'function',
            function: { name: call.tool, arguments: argumentsOf(call) },
          })),
        }),
  }
}

function otel(message: TeamMessage): object {
  if (message.role === 'tool') {
    const part = { type: 'tool_call_response', id: message.call.id, response: message.output }
    return { role: 'tool', parts: [part] }
  }
  if (message.role !== 'assistant')
    return { role: message.role, parts: [{ type: 'text', content: message.text }] }
  const { turn, calls } = message
  const thought = turn.thought === '' ? [] : [{ type: 'reasoning', content: turn.thought }]
  const text = turn.text === '' ? [] : [{ type: 'text', content: turn.text }]
  const used = calls.map((call) => ({
    type: 'tool_call',
    id: call.id,
    name: call.tool,
    arguments: call.input,
  }))
  return { role: 'assistant', parts: [...thought, ...text, ...used], finish_reason: 'stop' }
}

function anthropic(message: TeamMessage): object {
  if (message.role === 'tool') {
    const { call, output } = message
    const block = { type: 'tool_result', tool_use_id: call.id, content: output, is_error: !call.ok }
    return { role: 'user', content: [block] }
  }
  if (message.role !== 'assistant') return { role: message.role, content: message.text }
  const { turn, calls } = message
  const thought = turn.thought === '' ? [] : [{ type: 'thinking', thinking: turn.thought }]
  const text = turn.text === '' ? [] : [{ type: 'text', text: turn.text }]
  const used = calls.map(({ id, tool, input }) => ({ type: 'tool_use', id, name: tool, input }))
  return { role: 'assistant', content: [...thought, ...text, ...used] }
}

function responses(message: TeamMessage): object[] {
  if (message.role === 'tool')
    return [{ type: 'function_call_output', call_id: message.call.id, output: message.output }]
  if (message.role !== 'assistant') return [{ role: message.role, content: message.text }]
  const { turn } = message
  const summary = [{ type: 'summary_text', text: turn.thought }]
  const content = [{ type: 'output_text', text: turn.text, annotations: [] }]
  return [
    ...(turn.thought === '' ? [] : [{ type: 'reasoning', id: 'rs_1', summary }]),
    ...(turn.text === '' ? [] : [{ type: 'message', role: 'assistant', status: 'completed', content }]),
    ...callsOf(turn).map((call) => ({
      type: 'function_call',
      id: 'fc_1',
      call_id: call.id,
      name: call.tool,
      arguments: argumentsOf(call),
    })),
  ]
}

/** Flat attributes of OpenInference. */
export function openInference(prefix: string, messages: readonly TeamMessage[]): Record<string, string> {
  const attributes: Record<string, string> = {}
  for (const [index, message] of messages.entries()) {
    const at = `${prefix}.${index}.message`
    attributes[`${at}.role`] = message.role
    if (message.role === 'tool') {
      attributes[`${at}.content`] = message.output
      attributes[`${at}.tool_call_id`] = message.call.id
    } else if (message.role !== 'assistant') attributes[`${at}.content`] = message.text
    else {
      if (message.turn.text !== '') attributes[`${at}.content`] = message.turn.text
      for (const [number, call] of message.calls.entries()) {
        const inside = `${at}.tool_calls.${number}.tool_call`
        attributes[`${inside}.id`] = call.id
        attributes[`${inside}.function.name`] = call.tool
        attributes[`${inside}.function.arguments`] = argumentsOf(call)
      }
    }
  }
  return attributes
}
