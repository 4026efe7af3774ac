import type { DiagnosticCode } from '../diagnostic.ts'

/** A fault in a payload; the parser adds where and in whose block. */
export interface PayloadProblem {
  code: DiagnosticCode
  message: string
  repair: string | null
}
