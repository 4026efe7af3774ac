import type { EvalTokens, PairReport } from '../../schema/index.ts'
import { type Item, isCorrect, isDecided, withoutFailures } from './outcome.ts'
import type { ReportSettings } from './prices.ts'
import { type BootstrapOptions, bootstrap, mcnemar, meanOf, sum } from './statistics.ts'

/** A task that both attempted, with the usable attempts. */
interface Both {
  reference: Item
  solver: Item
}

/** Compares a solver with a reference on the tasks that both attempted. */
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
  return attempts.filter(isCorrect).length / attempts.length
}

function firstOutcomes(both: readonly Both[]): PairReport['outcomes'] {
  const outcomes = { both: 0, onlyReference: 0, onlySolver: 0, neither: 0, leftOut: 0 }
  for (const { reference, solver } of both) {
    const [one, other] = [reference.attempts[0]!, solver.attempts[0]!]
    if (!isDecided(one) || !isDecided(other)) outcomes.leftOut++
    else if (isCorrect(one)) outcomes[isCorrect(other) ? 'both' : 'onlyReference']++
    else outcomes[isCorrect(other) ? 'onlySolver' : 'neither']++
  }
  return outcomes
}

/** One minus the ratio of the solver's tokens to the reference's: per attempt, or per correct answer. */
function savedShare(
  pairs: readonly Both[],
  which: keyof EvalTokens,
  perSuccess: boolean,
  options: BootstrapOptions,
): PairReport['saved']['once'] {
  const tokenizers = new Set(pairs.flatMap((pair) => [tokenizerOf(pair.reference), tokenizerOf(pair.solver)]))
  if (tokenizers.size !== 1) return null
  const side = (of: 'reference' | 'solver') =>
    pairs.map((pair) => {
      const { attempts } = pair[of]
      const share = 1 / attempts.length
      return {
        tokens: share * sum(attempts.map(({ tokens }) => tokens[which])),
        correct: share * attempts.filter(isCorrect).length,
      }
    })
  const [before, after] = [side('reference'), side('solver')]
  const statistic = (places: Iterable<number>): number => {
    const total = { before: 0, after: 0, correctBefore: 0, correctAfter: 0 }
    for (const at of places) {
      total.before += before[at]!.tokens
      total.after += after[at]!.tokens
      total.correctBefore += before[at]!.correct
      total.correctAfter += after[at]!.correct
    }
    const each = perSuccess ? total.correctBefore / total.correctAfter : 1
    return 1 - (total.after / total.before) * each
  }
  const value = statistic(pairs.keys())
  const bounds = Number.isFinite(value) ? bootstrap(pairs.length, statistic, options) : undefined
  return bounds === undefined ? null : { value, ...bounds }
}

function tokenizerOf({ attempts }: Item): string {
  return attempts[0]!.tokenizer
}
