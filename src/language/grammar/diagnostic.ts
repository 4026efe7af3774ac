/** What can be wrong with a stream. Positions are UTF-16 offsets into the raw text. */
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
  /** What the parser did to go on as if all were well; null where nothing was done. Always null in strict mode. */
  repair: string | null
}
