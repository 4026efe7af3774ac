import type { ChatTurn } from './chat-turn.ts'
import { isObject, type JsonObject } from './json.ts'
import { turnsIn } from './messages/any-dialect.ts'

/**
 * The object under a prefix of flat keys: `a.0.b` and `a.1.b` under `a` are a list of two objects. Undefined if there is
 * no such key.
 */
export function folded(attributes: JsonObject, prefix: string): unknown {
  const root: JsonObject = {}
  for (const [key, value] of Object.entries(attributes)) {
    if (!key.startsWith(`${prefix}.`)) continue
    let inner = root
    const path = key.slice(prefix.length + 1).split('.')
    for (const step of path.slice(0, -1)) {
      const next = Object.hasOwn(inner, step) && isObject(inner[step]) ? inner[step] : {}
      inner[step] = next
      inner = next as JsonObject
    }
    inner[path.at(-1)!] = value
  }
  return Object.keys(root).length === 0 ? undefined : asLists(root)
}

/** Objects whose keys are numbers are lists. */
function asLists(value: unknown): unknown {
  if (!isObject(value)) return value
  const entries = Object.entries(value)
  if (!entries.every(([key]) => /^\d+$/.test(key)))
    return Object.fromEntries(entries.map(([key, inner]) => [key, asLists(inner)]))
  return entries.sort(([one], [other]) => Number(one) - Number(other)).map(([, inner]) => asLists(inner))
}

const SENT = [
  'gen_ai.input.messages',
  'gen_ai.prompt',
  'llm.input_messages',
  'ai.prompt.messages',
  'ai.prompt',
  'input.value',
]
const ANSWERED = ['gen_ai.output.messages', 'gen_ai.completion', 'llm.output_messages', 'output.value']

/** What a model was sent, according to OpenTelemetry attributes of any convention. */
export const sentIn = (attributes: JsonObject): ChatTurn[] => firstTurns(attributes, SENT, 'user')

/** What a model answered, according to OpenTelemetry attributes of any convention. */
export function answeredIn(attributes: JsonObject): ChatTurn[] {
  const text = attributes['ai.response.text']
  const calls = turnsIn(attributes['ai.response.toolCalls'], 'assistant').flatMap((turn) => turn.calls)
  if (typeof text === 'string' || calls.length > 0)
    return [{ role: 'assistant', text: typeof text === 'string' ? text : '', calls, results: [] }]
  return firstTurns(attributes, ANSWERED, 'assistant')
}

function firstTurns(attributes: JsonObject, keys: readonly string[], side: 'user' | 'assistant'): ChatTurn[] {
  for (const key of keys) {
    const turns = turnsIn(attributes[key] ?? folded(attributes, key), side)
    if (turns.length > 0) return turns
  }
  return []
}

/** The system prompt where it is apart from the messages. */
export const instructionsIn = (attributes: JsonObject): ChatTurn[] =>
  turnsIn(attributes['gen_ai.system_instructions'], 'user').map((turn) => ({ ...turn, role: 'system' }))
