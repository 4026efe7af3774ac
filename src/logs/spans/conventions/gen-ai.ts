import type { ChatTurn } from '../../chat-turn.ts'
import { asText, type JsonObject, parsedOr, textOf } from '../../json.ts'
import { resultText, unwrapped } from '../../messages/parts.ts'
import { systemTurns, turnsOfRequest, turnsOfResponse } from '../../messages/payloads.ts'
import { folded } from '../attributes.ts'
import { offeredTools } from '../offered-tools.ts'
import type { Convention, Reading } from '../reading.ts'
import type { SpanEvent } from '../span.ts'
import { inputOf } from '../tool-input.ts'

const kinds: Readonly<Record<string, Reading['kind']>> = {
  chat: 'model',
  generate_content: 'model',
  text_completion: 'model',
  invoke_agent: 'agent',
  execute_tool: 'tool',
}

/** OpenTelemetry's conventions for generative AI since version 1.37: messages are attributes, also of an event. */
export const genAi: Convention = ({ attributes: own, events }) => {
  const details = events.find(({ name }) => name === 'gen_ai.client.inference.operation.details')
  const attributes = details === undefined ? own : { ...detailsOf(details), ...own }
  const name = textOf(attributes['gen_ai.tool.name'])
  // Google's ADK repeats the results of parallel calls in a span of their own.
  if (name === '(merged tools)') return { kind: undefined }
  const call = textOf(attributes['gen_ai.tool.call.id'])
  const input = folded(attributes, 'gen_ai.tool.call.arguments')
  const result = folded(attributes, 'gen_ai.tool.call.result')
  return {
    kind: kinds[asText(attributes['gen_ai.operation.name'])],
    agent: textOf(attributes['gen_ai.agent.name']) ?? otherName(attributes),
    messages: messagesOf(attributes),
    output: turnsOfResponse(folded(attributes, 'gen_ai.output.messages')),
    ...(name === undefined && call === undefined
      ? {}
      : {
          tool: {
            ...(name === undefined ? {} : { name }),
            ...(call ? { call } : {}),
            ...(input === undefined ? {} : { input: inputOf(input) }),
            ...(result === undefined ? {} : { output: resultText(withoutWrapper(result)) }),
          },
        }),
    offered: offeredTools(folded(attributes, 'gen_ai.tool.definitions')),
    response: textOf(attributes['gen_ai.response.id']),
    conversation: textOf(attributes['gen_ai.conversation.id']),
    ...handOff(attributes),
  }
}

/** Text that happens to be JSON stays as it is. */
function withoutWrapper(result: unknown): unknown {
  const read = parsedOr(result)
  const inner = unwrapped(read)
  return inner === read ? result : inner
}

function messagesOf(attributes: JsonObject): ChatTurn[] {
  const messages = turnsOfRequest(folded(attributes, 'gen_ai.input.messages'))
  const instructions = folded(attributes, 'gen_ai.system_instructions')
  const system = instructions === undefined ? [] : systemTurns(instructions)
  const isThere = ({ text }: ChatTurn): boolean =>
    messages.some((turn) => turn.role === 'system' && turn.text === text)
  return [...system.filter((turn) => !isThere(turn)), ...messages]
}

/** The event's fields are attributes, or the body of a log record. */
function detailsOf({ attributes, body }: SpanEvent): JsonObject {
  return { ...(typeof body === 'object' && body !== null ? (body as JsonObject) : {}), ...attributes }
}

/** Names of agents in older libraries. */
function otherName(attributes: JsonObject): string | undefined {
  const isAgent = attributes['agentops.span.kind'] === 'agent'
  const keys = ['agent.name', 'agent_name', 'recipient_agent_type', ...(isAgent ? ['operation.name'] : [])]
  return keys.map((key) => textOf(attributes[key])).find((name) => name !== undefined && name !== '')
}

function handOff(attributes: JsonObject): Pick<Reading, 'kind' | 'agent' | 'to'> {
  const to = textOf(attributes['gen_ai.handoff.to_agent'])
  const from = textOf(attributes['gen_ai.handoff.from_agent'])
  return to === undefined ? {} : { kind: 'hand-off', to, ...(from === undefined ? {} : { agent: from }) }
}
