import type { ChatCall, ChatResult, ChatTurn } from '../chat-turn.ts'
import { asText, at, isObject, listOf, parsedOr, textOf } from '../json.ts'

type Part = Record<string, unknown>

/** A message of the AI SDK, for models or for a user interface. A step of a UI message is a turn, with the results after it. */
export function readAiSdkMessage(value: unknown): ChatTurn[] {
  const role = asText(at(value, 'role')) as ChatTurn['role']
  const parts = at(value, 'parts') ?? at(value, 'content')
  if (!Array.isArray(parts)) return [{ role, text: asText(parts), calls: [], results: [] }]
  return readAiSdkParts(parts, role)
}

/** The parts of a message, or the content of a step. */
export function readAiSdkParts(parts: readonly unknown[], role: ChatTurn['role'] = 'assistant'): ChatTurn[] {
  const turns: ChatTurn[] = []
  let open = new OpenTurn(role)
  const close = (): void => {
    turns.push(...open.turns())
    open = new OpenTurn(role)
  }
  for (const part of parts) {
    if (!isObject(part)) continue
    const type = asText(part['type'])
    // What is written after a result is another turn, also where the log does not mark the step.
    const isResult = type === 'tool-result' || type === 'tool-error'
    if (type === 'step-start' || (open.hasResults && !isResult && !isToolPart(part))) close()
    open.add(part, type)
  }
  close()
  return turns
}

class OpenTurn {
  readonly #role: ChatTurn['role']
  readonly #texts: string[] = []
  readonly #thoughts: string[] = []
  readonly #calls: ChatCall[] = []
  readonly #results: ChatResult[] = []

  constructor(role: ChatTurn['role']) {
    this.#role = role
  }

  get hasResults(): boolean {
    return this.#results.length > 0
  }

  add(part: Part, type: string): void {
    if (type === 'text') this.#texts.push(asText(part['text']))
    else if (type === 'reasoning') this.#thoughts.push(asText(part['text'] ?? part['reasoning']))
    else if (type === 'tool-result' || type === 'tool-error') this.#results.push(resultOf(part))
    else if (type === 'tool-call' || isToolPart(part)) {
      this.#calls.push({
        ...idOf(part),
        tool: toolOf(part),
        input: parsedOr(part['input'] ?? part['args'] ?? {}),
      })
      if (part['output'] !== undefined || part['errorText'] !== undefined) this.#results.push(resultOf(part))
    } else if (type === 'file' || type === 'image') this.#texts.push(`[${type}]`)
  }

  turns(): ChatTurn[] {
    const [text, thought] = [this.#texts.join('\n'), this.#thoughts.join('\n')]
    const wrote: ChatTurn = {
      role: this.#role,
      text,
      ...(thought === '' ? {} : { thought }),
      calls: this.#calls,
      results: [],
    }
    const isEmpty = text === '' && thought === '' && this.#calls.length === 0
    const results: ChatTurn = { role: 'tool', text: '', calls: [], results: this.#results }
    return [...(isEmpty ? [] : [wrote]), ...(this.#results.length === 0 ? [] : [results])]
  }
}

/** A part of a UI message that is a call together with its result: `tool-search` or `dynamic-tool`. */
const isToolPart = (part: Part): boolean =>
  part['toolCallId'] !== undefined &&
  (part['type'] === 'dynamic-tool' || /^tool-(?!call$|result$|error$|approval)/.test(asText(part['type'])))

const toolOf = (part: Part): string => textOf(part['toolName']) ?? asText(part['type']).replace(/^tool-/, '')

function idOf(part: Part): { id?: string } {
  const id = textOf(part['toolCallId'])
  return id === undefined ? {} : { id }
}

function resultOf(part: Part): ChatResult {
  const output = part['output'] ?? part['result']
  const error = part['errorText'] ?? part['error']
  const kind = asText(at(output, 'type'))
  const failed = error !== undefined || part['isError'] === true || /^error-|denied$/.test(kind)
  return {
    ...idOf(part),
    output: error === undefined ? outputText(output) : (textOf(at(error, 'message')) ?? asText(error)),
    ...(failed ? { ok: false } : {}),
  }
}

/** `{ type: "text" | "json" | …, value }`, or the value itself. */
function outputText(output: unknown): string {
  const isTyped = /^(?:text|json|error-text|error-json|content|execution-denied)$/.test(
    asText(at(output, 'type')),
  )
  const value = isTyped ? (at(output, 'value') ?? at(output, 'reason')) : output
  const texts = listOf(value).map((part) => textOf(at(part, 'text')))
  return texts.length > 0 && texts.every((text) => text !== undefined) ? texts.join('\n') : asText(value)
}
