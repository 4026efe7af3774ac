import type { EvalTokens, Price } from '../../schema/index.ts'
import type { BootstrapOptions } from './statistics.ts'

/** What metrics are computed with. */
export interface ReportSettings extends BootstrapOptions {
  /** Picks one of several attempts at a task. */
  picker: string
  prices: Readonly<Record<string, Price>>
}

/** The price of a solver by name or kind; undefined if the table has neither. */
export function priceOf(
  { name, kind }: { name: string; kind: string },
  table: ReportSettings['prices'],
): Price | undefined {
  const prices = new Map(Object.entries(table))
  return prices.get(name) ?? prices.get(kind)
}

/** The cost of tokens, with prompts counted once or billed with every request. */
export function costOf(
  { once, billed, completion }: Pick<EvalTokens, 'once' | 'billed' | 'completion'>,
  price: Price,
): { once: number; billed: number } {
  const cost = (tokens: number): number =>
    ((tokens - completion) * price.prompt + completion * price.completion) / 1e6
  return { once: cost(once), billed: cost(billed) }
}
