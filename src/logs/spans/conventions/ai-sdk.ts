import type { ChatTurn } from '../../chat-turn.ts'
import { asText, at, isObject, type JsonObject, listOf, parsedOr, textOf } from '../../json.ts'
import { readMessage } from '../../messages/any.ts'
import { readParts, resultText } from '../../messages/parts.ts'
import { systemTurns, turnsOfRequest } from '../../messages/payloads.ts'
import { offeredTools } from '../offered-tools.ts'
import type { Convention } from '../reading.ts'

/** Spans of the AI SDK before version 7, such as `ai.generateText` and `ai.toolCall`. Version 7 follows OpenTelemetry. */
export const aiSdk: Convention = ({ attributes, name }) => {
  const operation = asText(attributes['ai.operationId']) || name
  if (!operation.startsWith('ai.')) return {}
  const agent = textOf(attributes['ai.telemetry.functionId'])
  if (operation === 'ai.toolCall') return toolCall(attributes)
  if (/\.do(?:Generate|Stream)$/.test(operation))
    return {
      kind: 'model',
      agent,
      messages: messagesOf(attributes),
      output: outputOf(attributes),
      offered: offeredTools(attributes['ai.prompt.tools']),
      response: textOf(attributes['ai.response.id']),
    }
  return {
    kind: 'agent',
    agent,
    messages: messagesOf(attributes),
    output: outputOf(attributes),
  }
}

function messagesOf(attributes: JsonObject): ChatTurn[] {
  if (attributes['ai.prompt.messages'] !== undefined) return turnsOfRequest(attributes['ai.prompt.messages'])
  const prompt = parsedOr(attributes['ai.prompt'] ?? null)
  if (!isObject(prompt)) return []
  const system = prompt['system'] ?? prompt['instructions']
  const rest = prompt['messages'] ?? prompt['prompt']
  return [
    ...(system === undefined ? [] : systemTurns(system)),
    ...(Array.isArray(rest) ? rest.flatMap((message) => readMessage(message)) : readMessage(rest)),
  ]
}

function outputOf(attributes: JsonObject): ChatTurn[] {
  const text = textOf(attributes['ai.response.text']) ?? textOf(attributes['ai.response.object'])
  const thought = textOf(attributes['ai.response.reasoning'])
  const calls = listOf(parsedOr(attributes['ai.response.toolCalls'] ?? null))
  return readParts('assistant', [
    ...(thought ? [{ type: 'reasoning', text: thought }] : []),
    ...(text ? [{ type: 'text', text }] : []),
    ...calls.map((call) => ({ ...(isObject(call) ? call : {}), type: 'tool-call' })),
  ])
}

function toolCall(attributes: JsonObject): ReturnType<Convention> {
  const call = textOf(attributes['ai.toolCall.id'])
  const result = attributes['ai.toolCall.result']
  const input = attributes['ai.toolCall.args']
  return {
    kind: 'tool',
    tool: {
      name: asText(attributes['ai.toolCall.name']),
      ...(call ? { call } : {}),
      ...(input === undefined ? {} : { input: parsedOr(input) }),
      ...(result === undefined ? {} : { output: resultText(result) }),
      ...(at(parsedOr(result ?? null), 'type') === 'error-text' ? { failed: true } : {}),
    },
  }
}
