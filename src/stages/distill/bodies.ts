import { type Agent, type Payload, parsePayload, renderPayload } from '../../language/grammar/index.ts'
import { lastBox } from '../../reward/index.ts'
import type { EventOf } from './causal-order.ts'

/** The text of a block, and what of its source could not be represented. */
export interface Body {
  text: string
  problems: string[]
}

/** A tool call's arguments in the payload syntax of the grammar's agent. */
export function callBody(agent: Agent, input: EventOf<'tool-called'>['input']): Body {
  if (isPayload(input) && input.syntax === agent.payload.syntax)
    return checked(agent, renderPayload(input), [])
  const { payload, unused } = adapt(agent, plainArguments(input))
  const lost = unused.map((name) => `<${agent.tag}> has no field for the argument "${name}"`)
  if (payload !== undefined) return checked(agent, renderPayload(payload), lost)
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  return checked(agent, text, [`cannot convert the arguments of <${agent.tag}>`])
}

function adapt(agent: Agent, given: PlainArguments): { payload: Payload | undefined; unused: string[] } {
  const { payload: definition } = agent
  if (definition.syntax === 'json') {
    const fits = typeof given === 'object' && !Array.isArray(given)
    return {
      payload: fits ? { syntax: 'json', value: given as Record<string, unknown> } : undefined,
      unused: [],
    }
  }
  const { stdin, ...rest } =
    typeof given === 'object' && !Array.isArray(given) ? (given as Record<string, never>) : {}
  const takesInput = definition.syntax === 'code' && definition.stdin && typeof stdin === 'string'
  const { texts, unused } = mainTexts(takesInput ? rest : given)
  if (texts === undefined) return { payload: undefined, unused: [] }
  if (definition.syntax === 'list') return { payload: { syntax: 'list', items: [...texts] }, unused }
  if (texts.length > 1) return { payload: undefined, unused: [] }
  if (definition.syntax === 'text') return { payload: { syntax: 'text', text: texts[0]! }, unused }
  const code: Payload = { syntax: 'code', language: definition.languages[0]!, code: texts[0]! }
  return { payload: takesInput ? { ...code, stdin } : code, unused }
}

/** Some grammars want the answer in a box; the agent's description says so. */
const BOX = '\\boxed{'

/** The final answer as the grammar's answer agent writes it. */
export function answerBody(agent: Agent, text: string): Body {
  if (agent.payload.syntax === 'text') {
    const boxed = agent.description.includes(BOX) ? inBox(text.trim()) : text.trim()
    return checked(agent, boxed, [])
  }
  const { payload } = parsePayload(agent, text)
  return checked(agent, payload === undefined ? text : renderPayload(payload), [])
}

/** The last box of a text with its content, or the whole text in a box. */
const inBox = (text: string): string =>
  text.includes(BOX) && lastBox(text) === undefined ? text : `${BOX}${lastBox(text) ?? text}}`

function checked(agent: Agent, text: string, problems: string[]): Body {
  const faults = parsePayload(agent, text).problems.map(({ message }) => `<${agent.tag}>: ${message}`)
  return { text, problems: [...problems, ...faults] }
}

type Json = EventOf<'tool-called'>['input']

/** Arguments as most tools take them: one text, several, or named fields. */
type PlainArguments = string | readonly string[] | Readonly<Record<string, Json>>

/** Reads one of coa's payloads, or whatever a foreign tool was called with. */
function plainArguments(input: Json): PlainArguments {
  if (isPayload(input)) return plainPayload(input)
  if (typeof input === 'string') return input
  if (isTexts(input)) return input
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input
  return JSON.stringify(input)
}

/** The texts of the main argument, and the names of the others. */
function mainTexts(given: PlainArguments): { texts: readonly string[] | undefined; unused: string[] } {
  if (typeof given === 'string') return { texts: [given], unused: [] }
  if (isTexts(given)) return { texts: given, unused: [] }
  const fields = Object.entries(given)
  const main = fields.find(([, value]) => typeof value === 'string' || isTexts(value))
  const unused = fields.filter((field) => field !== main).map(([name]) => name)
  if (main === undefined) return { texts: undefined, unused }
  return { texts: typeof main[1] === 'string' ? [main[1]] : (main[1] as string[]), unused }
}

function isPayload(value: unknown): value is Payload {
  if (typeof value !== 'object' || value === null) return false
  const { syntax, text, items, code, value: inner } = value as Record<string, unknown>
  switch (syntax) {
    case 'text':
      return typeof text === 'string'
    case 'list':
      return isTexts(items)
    case 'code':
      return typeof code === 'string'
    case 'json':
      return typeof inner === 'object' && inner !== null
    default:
      return false
  }
}

function plainPayload(payload: Payload): PlainArguments {
  switch (payload.syntax) {
    case 'text':
      return payload.text
    case 'list':
      return payload.items
    case 'code':
      return { code: payload.code, ...(payload.stdin === undefined ? {} : { stdin: payload.stdin }) }
    case 'json':
      return payload.value as Record<string, Json>
  }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')
}
