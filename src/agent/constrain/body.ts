/**
 * How far the text of a block has come, as far as what may follow depends on it. Never changed: each symbol leads to
 * another one, or nowhere where the symbol would make the text wrong.
 */
export interface Body {
  /** Bodies of one agent with the same key have the same future. */
  readonly key: string
  /** True where the block may be closed. */
  readonly closable: boolean
  /** True where every character outside of ASCII may follow; elsewhere none may. */
  readonly wide: boolean
  step(symbol: number): Body | undefined
}
