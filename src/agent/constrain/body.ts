/**
 * The parser state inside a block, as far as it determines what may follow. Immutable: each symbol leads to another
 * state, or to none if the symbol is invalid there.
 */
export interface Body {
  /** States of one agent with the same key are equivalent. */
  readonly key: string
  /** Whether the block may be closed here. */
  readonly closable: boolean
  /** Whether non-ASCII characters may follow: either all or none may. */
  readonly wide: boolean
  step(symbol: number): Body | undefined
}
