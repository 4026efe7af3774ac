import type { EvalTokens, PairReport } from '../../schema/index.ts'
import { type Item, isDecided, isRight, withoutFailures } from './outcome.ts'
import type { ReportSettings } from './prices.ts'
import { type BootstrapOptions, bootstrap } from './statistics/bootstrap.ts'
import { meanOf, sum } from './statistics/estimates.ts'
import { mcnemar } from './statistics/mcnemar.ts'

/** A task that both tried, with the attempts that say something about them. */
interface Both {
  reference: Item
  solver: Item
}

/** What the second solver does better or with less than the first, on the tasks that both tried. */
export function pairReport(
  reference: readonly Item[],
  solver: readonly Item[],
  settings: ReportSettings,
): PairReport {
  const names = { reference: nameOf(reference), solver: nameOf(solver) }
  const byTask = new Map(solver.map((item) => [item.taskId, item]))
  const both = reference.flatMap((item): Both[] => {
    const other = byTask.get(item.taskId)
    return other === undefined ? [] : [{ reference: item, solver: other }]
  })
  const fair = both
    .map(
      (pair): Both => ({ reference: withoutFailures(pair.reference), solver: withoutFailures(pair.solver) }),
    )
    .filter((pair) => pair.reference.attempts.length > 0 && pair.solver.attempts.length > 0)
  const difference =
    fair.length === 0
      ? null
      : meanOf(
          fair.map((pair) => accuracyOf(pair.solver) - accuracyOf(pair.reference)),
          settings,
        )
  const outcomes = firstOutcomes(both)
  const saved = (which: 'once' | 'billed', perSuccess: boolean) =>
    savedShare(fair, which, perSuccess, settings)
  return {
    ...names,
    outcomes,
    p: mcnemar(outcomes.onlyReference, outcomes.onlySolver),
    difference,
    isEqualOrBetter: difference !== null && difference.value >= 0,
    saved: {
      once: saved('once', false),
      billed: saved('billed', false),
      oncePerSuccess: saved('once', true),
      billedPerSuccess: saved('billed', true),
    },
  }
}

function nameOf(items: readonly Item[]): string {
  return items[0]!.attempts[0]!.solver
}

function accuracyOf({ attempts }: Item): number {
  return attempts.filter(isRight).length / attempts.length
}

function firstOutcomes(both: readonly Both[]): PairReport['outcomes'] {
  const outcomes = { both: 0, onlyReference: 0, onlySolver: 0, neither: 0, leftOut: 0 }
  for (const { reference, solver } of both) {
    const [one, other] = [reference.attempts[0]!, solver.attempts[0]!]
    if (!isDecided(one) || !isDecided(other)) outcomes.leftOut++
    else if (isRight(one)) outcomes[isRight(other) ? 'both' : 'onlyReference']++
    else outcomes[isRight(other) ? 'onlySolver' : 'neither']++
  }
  return outcomes
}

/** One less the solver's tokens over the reference's: per attempt, or per right answer. */
function savedShare(
  pairs: readonly Both[],
  which: keyof EvalTokens,
  perSuccess: boolean,
  draws: BootstrapOptions,
): PairReport['saved']['once'] {
  const tokenizers = new Set(pairs.flatMap((pair) => [tokenizerOf(pair.reference), tokenizerOf(pair.solver)]))
  if (tokenizers.size !== 1) return null
  const side = (of: 'reference' | 'solver') =>
    pairs.map((pair) => {
      const { attempts } = pair[of]
      const share = 1 / attempts.length
      return {
        tokens: share * sum(attempts.map(({ tokens }) => tokens[which])),
        right: share * attempts.filter(isRight).length,
      }
    })
  const [before, after] = [side('reference'), side('solver')]
  const statistic = (places: Iterable<number>): number => {
    const total = { before: 0, after: 0, rightBefore: 0, rightAfter: 0 }
    for (const at of places) {
      total.before += before[at]!.tokens
      total.after += after[at]!.tokens
      total.rightBefore += before[at]!.right
      total.rightAfter += after[at]!.right
    }
    const each = perSuccess ? total.rightBefore / total.rightAfter : 1
    return 1 - (total.after / total.before) * each
  }
  const value = statistic(pairs.keys())
  const bounds = Number.isFinite(value) ? bootstrap(pairs.length, statistic, draws) : undefined
  return bounds === undefined ? null : { value, ...bounds }
}

function tokenizerOf({ attempts }: Item): string {
  return attempts[0]!.tokenizer
}
