import type { ChatTurn } from '../chat-turn.ts'
import type { Json, LoggedTool } from '../contract.ts'
import type { Span } from './span.ts'

/** What a span says, whatever convention its attributes follow. */
export interface Reading {
  kind?: 'model' | 'agent' | 'tool' | 'hand-off'
  /** Name of the agent that the span belongs to. */
  agent?: string
  /** What a model or an agent was sent. */
  messages?: readonly ChatTurn[]
  /** What it wrote. */
  output?: readonly ChatTurn[]
  tool?: { name?: string; call?: string; input?: Json; output?: string; failed?: boolean }
  /** Tools that were offered. */
  offered?: readonly LoggedTool[]
  /** The provider's id of a model's response. */
  response?: string
  /** Of spans around a whole run. */
  question?: string
  answer?: string
  /** To whom an agent handed over. */
  to?: string
  /** Traces with the same conversation are parts of one chat. */
  conversation?: string
}

/** Reads the attributes of one convention; what it does not know is undefined. */
export type Convention = (span: Span) => { [K in keyof Reading]: Reading[K] | undefined }

/** What all conventions together say about a span: libraries mix them. The first that knows something wins. */
export function readSpan(span: Span, conventions: readonly Convention[]): Reading {
  const whole: Record<string, unknown> = {}
  for (const convention of conventions) {
    const { tool, ...rest } = convention(span)
    // One library's span of a tool may have the call in one convention and the result in another.
    if (tool !== undefined) whole['tool'] = { ...tool, ...(whole['tool'] as typeof tool) }
    for (const [key, value] of Object.entries(rest))
      if (isEmpty(whole[key]) && !isEmpty(value)) whole[key] = value
  }
  return whole
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
