import type { Body } from './body.ts'
import { isBlank } from './symbols.ts'

const BAR = 124

/** Any text, possibly empty: what a role says. */
export const freeText: Body = { key: '', closable: true, wide: true, step: () => freeText }

function until(counts: (symbol: number) => boolean): Body {
  const empty: Body = {
    key: 'empty',
    closable: false,
    wide: true,
    step: (symbol) => (counts(symbol) ? freeText : empty),
  }
  return empty
}

/** Text that is not blank. */
export const writtenText = until((symbol) => !isBlank(symbol))

/** `a | b` with at least one item. A bar within an item is escaped with a backslash, which counts already. */
export const listText = until((symbol) => !isBlank(symbol) && symbol !== BAR)
