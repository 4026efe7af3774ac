import { langChainAgent } from '../../agent-names.ts'
import { asText, at, isObject, parsedOr, textOf } from '../../json.ts'
import { resultText } from '../../messages/parts.ts'
import { turnsOfRequest, turnsOfResponse } from '../../messages/payloads.ts'
import { folded } from '../attributes.ts'
import { offeredTools } from '../offered-tools.ts'
import type { Convention } from '../reading.ts'
import { inputOf } from '../tool-input.ts'

const PROPERTIES = 'traceloop.association.properties.'

/** OpenLLMetry (Traceloop): messages are spread over keys such as `gen_ai.prompt.0.content`. */
export const openLlmetry: Convention = ({ attributes, name }) => {
  const messages = turnsOfRequest(folded(attributes, 'gen_ai.prompt'))
  const output = turnsOfResponse(folded(attributes, 'gen_ai.completion'))
  const offered = offeredTools(folded(attributes, 'llm.request.functions'))
  const isModel =
    messages.length > 0 ||
    output.length > 0 ||
    /^(?:chat|completion)$/.test(
      asText(attributes['llm.request.type'] ?? attributes['gen_ai.operation.name']),
    )
  const kind = attributes['traceloop.span.kind']
  // LangChain's metadata; which spans are around a call says less, since agents' spans are next to their steps.
  const metadata = Object.fromEntries(
    Object.entries(attributes)
      .filter(([key]) => key.startsWith(PROPERTIES))
      .map(([key, value]) => [key.slice(PROPERTIES.length), value]),
  )
  const agent = langChainAgent(metadata)
  const entity = textOf(attributes['traceloop.entity.name']) ?? name
  const input = attributes['traceloop.entity.input']
  const result = attributes['traceloop.entity.output']
  if (kind === 'tool')
    return {
      kind: 'tool',
      agent,
      tool: {
        name: entity,
        ...(input === undefined ? {} : { input: inputOf(input) }),
        ...(result === undefined ? {} : { output: outputOf(result) }),
      },
    }
  if (kind === 'agent') return { kind: 'agent', agent: entity, ...ends(input, result) }
  if (kind !== undefined) return ends(input, result)
  return { kind: isModel ? 'model' : undefined, agent, messages, output, offered }
}

function outputOf(value: unknown): string {
  const parsed = parsedOr(value)
  return resultText(
    isObject(parsed) && Object.keys(parsed).length === 1 ? (parsed['output'] ?? parsed) : parsed,
  )
}

/** What a workflow or an agent began and ended with, where that is a text. */
function ends(input: unknown, result: unknown): { question: string | undefined; answer: string | undefined } {
  const asked = input === undefined ? undefined : inputOf(input)
  const question =
    textOf(asked) ?? ['question', 'query', 'input', 'task'].map((key) => textOf(at(asked, key))).find(Boolean)
  const answer = result === undefined ? undefined : textOf(parsedOr(result))
  return { question, answer }
}
