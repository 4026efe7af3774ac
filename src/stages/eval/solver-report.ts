import type { EvalAttempt, EvalTokens, SolverReport } from '../../schema/index.ts'
import { type Item, isCorrect, isDecided, outcomeOf, withoutFailures } from './outcome.ts'
import { byMajority, type Picker, pickers } from './pick.ts'
import { costOf, priceOf, type ReportSettings } from './prices.ts'
import { type BootstrapOptions, meanOf, passAtK, ratioOf, shareOf, sum } from './statistics.ts'

/** Values of k for pass@k. */
const KS = [1, 2, 4, 8]

/** All metrics of one solver. */
export function solverReport(items: readonly Item[], settings: ReportSettings): SolverReport {
  const all = items.flatMap(({ attempts }) => attempts)
  const { solver: name, kind, tokenizer } = all[0]!
  // Failed attempts stopped midway, so their token counts mean nothing.
  const fair = items.map(withoutFailures).filter(({ attempts }) => attempts.length > 0)
  const n = Math.min(...items.map(({ attempts }) => attempts.length))
  const mean = (of: (attempt: EvalAttempt) => number) =>
    meanOf(
      fair.map(({ attempts }) => sum(attempts.map(of)) / attempts.length),
      settings,
    )
  const perSuccess = (of: (attempt: EvalAttempt) => number) =>
    ratioOf(
      fair.map(({ attempts }) => sum(attempts.map(of))),
      fair.map(({ attempts }) => attempts.filter(isCorrect).length),
      settings,
    )
  const picked = (pick: Picker) =>
    shareOf(
      items.map(({ attempts }) => {
        const chosen = pick(attempts.slice(0, n))
        return chosen !== undefined && isCorrect(chosen) ? 1 : 0
      }),
      settings,
    )
  const correct = all.filter(isCorrect).length
  const tokens = (which: keyof EvalTokens) => mean((attempt) => attempt.tokens[which])
  const formed = all.filter(({ wellFormed }) => wellFormed !== undefined)
  return {
    name,
    kind,
    tokenizer,
    tasks: items.length,
    attempts: n,
    counts: countsOf(all),
    accuracy: sharesOf(items, 1, settings),
    pass: KS.filter((k) => k <= n).map((k) => ({ k, ...sharesOf(items, k, settings) })),
    majority: n === 1 ? null : { n, ...picked(byMajority) },
    best: n === 1 ? null : { n, picker: settings.picker, ...picked(pickers[settings.picker]!) },
    wellFormed:
      formed.length === 0 ? null : formed.filter(({ wellFormed }) => wellFormed).length / formed.length,
    tokens: {
      prompt: tokens('prompt'),
      completion: tokens('completion'),
      tool: tokens('tool'),
      once: tokens('once'),
      billed: tokens('billed'),
    },
    tokensPerSuccess: {
      once: perSuccess((attempt) => attempt.tokens.once),
      billed: perSuccess((attempt) => attempt.tokens.billed),
    },
    calls: mean(({ calls }) => calls),
    callsPerSuccess: perSuccess(({ calls }) => calls)?.value ?? null,
    requests: mean(({ requests }) => requests),
    ms: mean(({ ms }) => ms),
    cost: costOfAll(all, { name, kind }, settings.prices, correct),
    by: groupsOf(items, settings),
  }
}

/**
 * pass@k. Strict: every attempt counts, and undecided ones are not correct. Decided: only attempts with a verdict
 * count, and only tasks with at least k of them.
 */
function sharesOf(items: readonly Item[], k: number, options: BootstrapOptions): SolverReport['accuracy'] {
  const strict = items.map(({ attempts }) => passAtK(attempts.length, attempts.filter(isCorrect).length, k))
  const decided = items.flatMap(({ attempts }) => {
    const known = attempts.filter(isDecided)
    return known.length < k ? [] : [passAtK(known.length, known.filter(isCorrect).length, k)]
  })
  return {
    strict: shareOf(strict, options),
    decided: decided.length === 0 ? null : shareOf(decided, options),
  }
}

function countsOf(all: readonly EvalAttempt[]): SolverReport['counts'] {
  const counts = {
    attempts: all.length,
    correct: 0,
    wrong: 0,
    unanswered: 0,
    undecided: 0,
    failed: 0,
    retried: 0,
  }
  for (const attempt of all) {
    const outcome = outcomeOf(attempt)
    counts[outcome]++
    if (outcome === 'wrong' && attempt.answer === undefined) counts.unanswered++
    if (attempt.tries > 1) counts.retried++
  }
  return counts
}

function costOfAll(
  all: readonly EvalAttempt[],
  solver: { name: string; kind: string },
  table: ReportSettings['prices'],
  correct: number,
): SolverReport['cost'] {
  const price = priceOf(solver, table)
  if (price === undefined) return null
  const total = (which: keyof EvalTokens): number => sum(all.map(({ tokens }) => tokens[which]))
  const cost = costOf(
    { once: total('once'), billed: total('billed'), completion: total('completion') },
    price,
  )
  return { ...cost, billedPerSuccess: correct === 0 ? null : cost.billed / correct }
}

function groupsOf(items: readonly Item[], options: BootstrapOptions): SolverReport['by'] {
  return (['suite', 'level', 'hops'] as const).flatMap((field) => {
    const values = [...new Set(items.map((item) => item[field]))].filter((value) => value !== undefined)
    values.sort((one, other) => (one < other ? -1 : 1))
    return values.map((value) => {
      const own = items.filter((item) => item[field] === value)
      const all = own.flatMap((item) => withoutFailures(item).attempts)
      return {
        field,
        value: String(value),
        tasks: own.length,
        ...sharesOf(own, 1, options),
        once: sum(all.map(({ tokens }) => tokens.once)) / Math.max(1, all.length),
      }
    })
  })
}
