/** The ways a stream can be malformed. Positions are UTF-16 offsets into the raw text. */
export type DiagnosticCode =
  | 'unclosed-tag'
  | 'crossed-tag'
  | 'nested-tag'
  | 'stray-close'
  | 'unknown-tag'
  | 'wrong-case'
  | 'stray-text'
  | 'text-after-end'
  | 'empty-payload'
  | 'missing-fence'
  | 'unclosed-fence'
  | 'wrong-language'
  | 'text-outside-fence'
  | 'broken-json'
  | 'schema-mismatch'

export interface Diagnostic {
  code: DiagnosticCode
  message: string
  start: number
  end: number
  /** The agent whose block it is in; null between blocks. */
  agent: string | null
  /** How the parser repaired it, or null. Always null in strict mode. */
  repair: string | null
}
