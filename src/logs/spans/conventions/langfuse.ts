import { langChainAgent } from '../../agent-names.ts'
import type { Json } from '../../contract.ts'
import { asJson, asText, at, isObject, type JsonObject, listOf, parsedOr, textOf } from '../../json.ts'
import { turnsIn } from '../../messages/any-dialect.ts'
import {
  answerIn,
  definitionIn,
  isDefinition,
  questionIn,
  toolInput,
  toolOutput,
} from '../../trace-values.ts'
import { offeredTools } from '../offered-tools.ts'
import type { Convention } from '../reading.ts'

const PREFIX = 'langfuse.observation.'

/** Langfuse's SDKs from 3 on: inputs and outputs are JSON in attributes of their own. */
export const langfuse: Convention = ({ attributes, name }) => {
  const type = asText(attributes[`${PREFIX}type`]).toLowerCase()
  if (type === '') return {}
  const input = attributes[`${PREFIX}input`]
  const output = attributes[`${PREFIX}output`]
  const metadata = under(attributes, `${PREFIX}metadata.`)
  const agent = langChainAgent(metadata)
  if (type === 'generation')
    return {
      kind: 'model',
      agent,
      messages: turnsIn(input, 'user').filter((turn) => !isDefinition(turn)),
      output: turnsIn(output, 'assistant').filter(({ role }) => role !== 'system'),
      offered: offeredTools(at(parsedOr(input ?? null), 'tools') ?? definitionsIn(input)),
    }
  if (type === 'tool') {
    const given = toolInput(input)
    const returned = output === undefined ? undefined : toolOutput(output)
    const call = given.call ?? returned?.call ?? textOf(metadata['tool_call_id'])
    return {
      kind: 'tool',
      agent,
      tool: {
        name: given.tool ?? name,
        input: given.input,
        ...(returned === undefined ? {} : { output: returned.output }),
        ...(returned?.ok === false ? { failed: true } : {}),
        ...(call === undefined ? {} : { call }),
      },
    }
  }
  const ends = { question: questionIn(parsedOr(input ?? null)), answer: answerIn(output) }
  return type === 'agent' ? { kind: 'agent', agent: agent ?? name, ...ends } : { agent, ...ends }
}

const definitionsIn = (input: unknown): Json[] =>
  listOf(parsedOr(input ?? null)).flatMap(
    (message) => asJson(definitionIn(asText(at(message, 'content')))) ?? [],
  )

/** The attributes under a prefix, whose values are JSON. */
function under(attributes: JsonObject, prefix: string): JsonObject {
  const found = Object.entries(attributes).flatMap(([key, value]) =>
    key.startsWith(prefix) ? [[key.slice(prefix.length), parsedOr(value)] as const] : [],
  )
  const whole = parsedOr(attributes[prefix.slice(0, -1)] ?? null)
  return { ...(isObject(whole) ? whole : {}), ...Object.fromEntries(found) }
}
