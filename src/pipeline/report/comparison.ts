import { z } from 'zod'
import type { Run } from '../../store/index.ts'

const figure = z.number().nonnegative()

/** Solvers on the same tasks, side by side. The others are held against the first. */
export interface Comparison {
  rows: readonly ComparisonRow[]
  /** How many tasks each was given. */
  tasks?: number
  /** What it comes down to, in a sentence. */
  headline?: string
  /** How the tokens were counted, in a sentence. */
  counted?: string
}

export interface ComparisonRow {
  solver: string
  /** Share of right answers. */
  accuracy: number
  /** 95 % interval of it. */
  interval: readonly [number, number]
  tokensPerTask: number
  /** Null where nothing was solved. */
  tokensPerSolved: number | null
  callsPerTask: number
  secondsPerTask: number
}

const Value = z.looseObject({ value: figure })

/** What the page needs of an evaluation's report. */
const EvalFigures = z.looseObject({
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

/** The comparison in an evaluation's report; undefined where it is none. */
export function comparisonOf(report: unknown): Comparison | undefined {
  const { data } = EvalFigures.safeParse(report)
  if (data === undefined) return undefined
  return {
    tasks: data.suites.reduce((sum, { tasks }) => sum + tasks, 0),
    counted:
      'Each token is counted once, as by a server that remembers prefixes: prompts, what was written, and what tools returned.',
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

/** The last comparison that was made in a run. */
export function readComparison(run: Pick<Run, 'scan'>): Comparison | undefined {
  let found: Comparison | undefined
  for (const report of run.scan('eval')) found = comparisonOf(report) ?? found
  return found
}
