import type { DiagnosticCode } from '../diagnostic.ts'

/** What a tool is called with, or what was answered, after its syntax was read. */
export type Payload =
  | { syntax: 'text'; text: string }
  | { syntax: 'list'; items: string[] }
  | { syntax: 'code'; language: string; code: string; stdin?: string }
  | { syntax: 'json'; value: Record<string, unknown> }

/** A fault in a payload; the parser adds where and in whose block. */
export interface PayloadProblem {
  code: DiagnosticCode
  message: string
  repair: string | null
}

export interface ParsedPayload {
  /** Undefined when the body cannot be understood, even with repairs. */
  payload: Payload | undefined
  problems: PayloadProblem[]
}
