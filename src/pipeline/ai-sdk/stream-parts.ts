import type { ChainEvent } from '../../agent/index.ts'
import type { Payload } from '../../language/grammar/index.ts'
import type { ModelContent, ModelPart } from './language-model.ts'

/** The name under which the AI SDK passes on what its own fields do not hold. */
export const PROVIDER = 'chainOfAgents'

/** A chain as parts of an AI SDK stream: roles as reasoning, calls as calls made by the provider, the answer as text. */
export class StreamParts {
  #open: { type: 'reasoning' | 'text'; id: string } | undefined
  /** Ids are unique within a conversation. */
  readonly #id: string

  constructor(id: string) {
    this.#id = id
  }

  of(event: ChainEvent): ModelPart[] {
    switch (event.type) {
      case 'role': {
        const providerMetadata = { [PROVIDER]: { agent: event.agent } }
        const id = `${this.#id}-turn-${event.turn}`
        const opened = this.#switchTo({ type: 'reasoning', id }, providerMetadata)
        return [...opened, { type: 'reasoning-delta', id, delta: event.text }]
      }
      case 'answer': {
        const id = `${this.#id}-answer`
        return [...this.#switchTo({ type: 'text', id }), { type: 'text-delta', id, delta: event.text }]
      }
      case 'call':
        return [
          ...this.end(),
          {
            type: 'tool-call',
            toolCallId: this.#callId(event.call),
            toolName: event.agent,
            input: JSON.stringify(inputOf(event.payload, event.text)),
            providerExecuted: true,
            dynamic: true,
          },
        ]
      case 'result':
        return [
          ...this.end(),
          {
            type: 'tool-result',
            toolCallId: this.#callId(event.call),
            toolName: event.agent,
            result: event.text,
            isError: event.outcome !== 'ok',
            dynamic: true,
            providerMetadata: { [PROVIDER]: { outcome: event.outcome, ms: event.ms } },
          },
        ]
    }
  }

  end(): ModelPart[] {
    const open = this.#open
    this.#open = undefined
    return open === undefined ? [] : [{ type: `${open.type}-end`, id: open.id }]
  }

  #switchTo(
    next: { type: 'reasoning' | 'text'; id: string },
    providerMetadata?: Record<string, Record<string, string>>,
  ): ModelPart[] {
    if (this.#open?.id === next.id) return []
    const closed = this.end()
    this.#open = next
    const metadata = providerMetadata === undefined ? {} : { providerMetadata }
    return [...closed, { type: `${next.type}-start`, id: next.id, ...metadata }]
  }

  #callId(call: number): string {
    return `${this.#id}-call-${call}`
  }
}

/** The payload without its syntax; a call that could not be read, as it was written. */
function inputOf(payload: Payload | undefined, text: string): unknown {
  if (payload === undefined) return { text }
  if (payload.syntax === 'json') return payload.value
  const { syntax: _, ...input } = payload
  return input
}

/** What a stream amounts to. */
export function contentOf(parts: readonly ModelPart[]): ModelContent[] {
  const content: ModelContent[] = []
  for (const part of parts) {
    const last = content.at(-1)
    if (part.type === 'tool-call' || part.type === 'tool-result') content.push(part)
    else if (part.type === 'text-start') content.push({ type: 'text', text: '' })
    else if (part.type === 'reasoning-start') {
      const { providerMetadata } = part
      content.push({
        type: 'reasoning',
        text: '',
        ...(providerMetadata === undefined ? {} : { providerMetadata }),
      })
    } else if (part.type === 'text-delta' || part.type === 'reasoning-delta')
      (last as { text: string }).text += part.delta
  }
  return content
}
