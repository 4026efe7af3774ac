import { type Agent, type Payload, parsePayload, renderPayload } from '../../language/grammar/index.ts'
import { lastBox } from '../../reward/index.ts'
import type { EventOf } from './links.ts'
import { isPayload, mainTexts, type PlainArguments, plainArguments } from './plain-arguments.ts'

/** The text of a block, and what of its source could not be carried over. */
export interface Body {
  text: string
  problems: string[]
}

/** A tool's arguments as its agent writes them. */
export function callBody(agent: Agent, input: EventOf<'tool-called'>['input']): Body {
  if (isPayload(input) && input.syntax === agent.payload.syntax)
    return checked(agent, renderPayload(input), [])
  const { payload, unused } = adapt(agent, plainArguments(input))
  const lost = unused.map((name) => `the argument "${name}" has no place in <${agent.tag}>`)
  if (payload !== undefined) return checked(agent, renderPayload(payload), lost)
  const text = typeof input === 'string' ? input : JSON.stringify(input)
  return checked(agent, text, [`the arguments of <${agent.tag}> were not understood`])
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

/** Some grammars want the value in a box; they say so in the words the model is told. */
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

/** The last box of a text with what stands in it, or the text in a box of its own. */
const inBox = (text: string): string =>
  text.includes(BOX) && lastBox(text) === undefined ? text : `${BOX}${lastBox(text) ?? text}}`

function checked(agent: Agent, text: string, problems: string[]): Body {
  const faults = parsePayload(agent, text).problems.map(({ message }) => `<${agent.tag}>: ${message}`)
  return { text, problems: [...problems, ...faults] }
}
