import type { ChatTurn } from '../../chat-turn.ts'
import { isObject, type JsonObject, parsedOr, textOf } from '../../json.ts'
import { readMessage } from '../../messages/any.ts'
import { turnsOfRequest, turnsOfResponse } from '../../messages/payloads.ts'
import type { Convention } from '../reading.ts'
import type { SpanEvent } from '../span.ts'

/** OpenTelemetry's conventions until version 1.36: every message is an event of the span, or a log record. */
export const genAiEvents: Convention = ({ events }) => {
  const messages: ChatTurn[] = []
  const output: ChatTurn[] = []
  for (const event of inOrder(events)) {
    const role = /^gen_ai\.(system|user|assistant|tool)\.message$/.exec(event.name)?.[1]
    if (role !== undefined) messages.push(...readMessage(messageOf(event, role)))
    else if (event.name === 'gen_ai.choice') output.push(...readMessage(choiceOf(event), 'assistant'))
    // The version before those.
    else if (event.name === 'gen_ai.content.prompt')
      messages.push(...turnsOfRequest(fieldsOf(event)['gen_ai.prompt']))
    else if (event.name === 'gen_ai.content.completion')
      output.push(...turnsOfResponse(fieldsOf(event)['gen_ai.completion']))
  }
  const kind = messages.length > 0 || output.length > 0 ? 'model' : undefined
  return { kind, messages, output }
}

/** Log records may arrive in any order; events of one call often share their time and keep their order then. */
function inOrder(events: readonly SpanEvent[]): readonly SpanEvent[] {
  if (events.some(({ time }) => time === undefined)) return events
  return [...events].sort((one, other) => (one.time! < other.time! ? -1 : one.time! > other.time! ? 1 : 0))
}

/** The fields are in the body of a log record, in attributes of an event, or in one attribute as JSON. */
function fieldsOf({ attributes, body }: SpanEvent): JsonObject {
  const candidates: unknown[] = [parsedOr(body ?? null), parsedOr(attributes['gen_ai.event.content'] ?? null)]
  const inner = candidates.find(isObject)
  if (inner !== undefined) return { ...attributes, ...inner }
  return typeof body === 'string' ? { ...attributes, content: body } : attributes
}

function messageOf(event: SpanEvent, role: string): JsonObject {
  const { id, ...fields } = fieldsOf(event)
  const call = role === 'tool' && textOf(id) !== undefined ? { tool_call_id: id } : {}
  return { tool_calls: parsedOr(fields['tool_calls'] ?? null), ...call, ...fields, role }
}

/** Calls are beside the message or in it. */
function choiceOf(event: SpanEvent): JsonObject {
  const fields = fieldsOf(event)
  const message = parsedOr(fields['message'] ?? null)
  const inner = isObject(message) ? message : { content: message ?? fields['content'] ?? null }
  return { tool_calls: fields['tool_calls'], ...inner, role: 'assistant' }
}
