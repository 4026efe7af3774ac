import { z } from 'zod'
import type { Run } from '../../store/index.ts'

const nonnegative = z.number().nonnegative()

/** Solvers on the same tasks. The others are compared with the first. */
export interface Comparison {
  rows: readonly ComparisonRow[]
  tasks?: number
  /** The result in one sentence. */
  headline?: string
  /** How tokens were counted, in one sentence. */
  counted?: string
}

export interface ComparisonRow {
  solver: string
  accuracy: number
  /** 95% confidence interval of the accuracy. */
  interval: readonly [number, number]
  tokensPerTask: number
  /** Null if nothing was solved. */
  tokensPerSolved: number | null
  callsPerTask: number
  secondsPerTask: number
}

const Value = z.looseObject({ value: nonnegative })

/** What the page needs of an eval report. */
const EvalMetrics = z.looseObject({
  suites: z.array(z.looseObject({ tasks: z.number() })),
  solvers: z
    .array(
      z.looseObject({
        name: z.string(),
        accuracy: z.looseObject({ strict: Value.extend({ low: z.number(), high: z.number() }) }),
        tokens: z.looseObject({ once: Value }),
        tokensPerSuccess: z.looseObject({ once: Value.nullable() }),
        calls: Value,
        ms: Value,
      }),
    )
    .min(1),
})

/** The comparison in an eval report; undefined if it has another shape. */
export function comparisonOf(report: unknown): Comparison | undefined {
  const { data } = EvalMetrics.safeParse(report)
  if (data === undefined) return undefined
  return {
    tasks: data.suites.reduce((sum, { tasks }) => sum + tasks, 0),
    counted:
      'Each token is counted once, as on a server with a prefix cache: prompts, completions and tool output.',
    rows: data.solvers.map(({ name, accuracy, tokens, tokensPerSuccess, calls, ms }) => ({
      solver: name,
      accuracy: accuracy.strict.value,
      interval: [accuracy.strict.low, accuracy.strict.high],
      tokensPerTask: tokens.once.value,
      tokensPerSolved: tokensPerSuccess.once?.value ?? null,
      callsPerTask: calls.value,
      secondsPerTask: ms.value / 1000,
    })),
  }
}

/** The last comparison in a run. */
export function readComparison(run: Pick<Run, 'scan'>): Comparison | undefined {
  let found: Comparison | undefined
  for (const report of run.scan('eval')) found = comparisonOf(report) ?? found
  return found
}
