import type { DiagnosticCode } from '../diagnostic.ts'

/** The parsed input of a tool call, or the parsed answer. */
export type Payload =
  | { syntax: 'text'; text: string }
  | { syntax: 'list'; items: string[] }
  | { syntax: 'code'; language: string; code: string; stdin?: string }
  | { syntax: 'json'; value: Record<string, unknown> }

/** A problem in a payload; the parser adds its position and agent. */
export interface PayloadProblem {
  code: DiagnosticCode
  message: string
  repair: string | null
}

export interface ParsedPayload {
  /** Undefined if the body cannot be parsed, even with repairs. */
  payload: Payload | undefined
  problems: PayloadProblem[]
}
