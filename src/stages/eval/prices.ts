import { ConfigError } from '../../base/errors/index.ts'
import type { EvalTokens } from '../../schema/index.ts'

export interface Price {
  /** For a million tokens. */
  prompt: number
  completion: number
}

/** The price of a solver by its name or, failing that, its kind; undefined where the table has neither. */
export function priceOf(
  { name, kind }: { name: string; kind: string },
  table: readonly string[],
): Price | undefined {
  const prices = new Map(table.map(readLine))
  return prices.get(name) ?? prices.get(kind)
}

function readLine(line: string): [string, Price] {
  const found = /^(.+)=\s*(\d+(?:\.\d+)?)\s*\/\s*(\d+(?:\.\d+)?)$/.exec(line.trim())
  if (found !== null) return [found[1]!.trim(), { prompt: Number(found[2]), completion: Number(found[3]) }]
  throw new ConfigError(`eval.prices cannot be read: "${line}"`, {
    fix: 'Write a solver or kind and what a million tokens cost in and out, as in team=3/15.',
  })
}

/** What tokens cost, with prompts computed once or billed with every request. */
export function costOf(
  { once, billed, completion }: Pick<EvalTokens, 'once' | 'billed' | 'completion'>,
  price: Price,
): { once: number; billed: number } {
  const cost = (tokens: number): number =>
    ((tokens - completion) * price.prompt + completion * price.completion) / 1e6
  return { once: cost(once), billed: cost(billed) }
}
