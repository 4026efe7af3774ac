import { z } from 'zod'
import { PathName } from './path-name.ts'
import { Verdict } from './verdict.ts'

const count = z.number().int().nonnegative()

/**
 * Tokens of one attempt. `once` is what a server computes that remembers prefixes: the sum of the first three. `billed`
 * is what a service without memory charges for: the whole prompt of every request again, and what was written.
 */
export const EvalTokens = z.object({
  prompt: count,
  completion: count,
  /** What tools returned. */
  tool: count,
  once: count,
  billed: count,
})
export type EvalTokens = z.infer<typeof EvalTokens>

/** One solver's attempt at one task. Every task has all its attempts: one without an answer counts as wrong. */
export const EvalAttempt = z.object({
  v: z.literal(1),
  id: z.string().min(1),
  solver: z.string().min(1),
  kind: z.string().min(1),
  /** Digest of everything the solver's work depends on: weights, settings, limits. */
  how: z.string(),
  /** Which tokenizer counted; counts of different ones are not compared. */
  tokenizer: z.string(),
  taskId: z.string(),
  /** Place of the task among all that are evaluated. */
  position: count,
  suite: z.string(),
  level: z.number().int().optional(),
  hops: z.number().int().optional(),
  attempt: count,
  seed: count,
  /** 2 where something outside of the solver failed the first time. */
  tries: z.number().int().positive(),
  answer: z.string().optional(),
  verdict: Verdict,
  tokens: EvalTokens,
  /** Of tools. */
  calls: count,
  /** To a model. */
  requests: count,
  ms: z.number().nonnegative(),
  wellFormed: z.boolean().optional(),
  /** Something outside of the solver failed, twice. */
  failure: z.object({ boundary: z.string(), message: z.string() }).optional(),
  /** The record of what was written, where it is kept. */
  source: z.object({ kind: z.enum(['rollout', 'trajectory']), id: z.string() }).optional(),
  /** Whether a judge chose it among the attempts at its task. */
  picked: z.boolean().optional(),
})
export type EvalAttempt = z.infer<typeof EvalAttempt>

/** A figure with its 95 % interval. */
const Estimate = z.object({ value: z.number(), low: z.number(), high: z.number() })
export type Estimate = z.infer<typeof Estimate>
/** Null where there is nothing to reckon it from. */
const MaybeEstimate = Estimate.nullable()

/** Shares of right answers: over everything, and over those that could be decided. */
const Shares = z.object({ strict: Estimate, decided: MaybeEstimate })

const SolverReport = z.object({
  name: z.string(),
  kind: z.string(),
  tokenizer: z.string(),
  tasks: count,
  /** At each task. */
  attempts: count,
  counts: z.object({
    attempts: count,
    correct: count,
    wrong: count,
    /** Part of `wrong`. */
    unanswered: count,
    undecided: count,
    failed: count,
    retried: count,
  }),
  accuracy: Shares,
  /** The chance that one of k attempts is right, without bias. */
  pass: z.array(z.object({ k: z.number().int().positive(), ...Shares.shape })),
  /** One answer out of all attempts at a task: the most frequent one, and that of the picker. */
  majority: z.object({ n: count, ...Estimate.shape }).nullable(),
  best: z.object({ n: count, picker: z.string(), ...Estimate.shape }).nullable(),
  wellFormed: z.number().nullable(),
  /** Means of an attempt. */
  tokens: z.object({
    prompt: Estimate,
    completion: Estimate,
    tool: Estimate,
    once: Estimate,
    billed: Estimate,
  }),
  /** All tokens over all right answers. */
  tokensPerSuccess: z.object({ once: MaybeEstimate, billed: MaybeEstimate }),
  calls: Estimate,
  callsPerSuccess: z.number().nullable(),
  requests: Estimate,
  ms: Estimate,
  /** Of all attempts; null where the settings name no price. */
  cost: z
    .object({ once: z.number(), billed: z.number(), billedPerSuccess: z.number().nullable() })
    .nullable(),
  by: z.array(
    z.object({
      field: z.enum(['suite', 'level', 'hops']),
      value: z.string(),
      tasks: count,
      ...Shares.shape,
      once: z.number(),
    }),
  ),
})
export type SolverReport = z.infer<typeof SolverReport>

/** Two solvers on the same tasks; what is said is said of the second. */
const PairReport = z.object({
  reference: z.string(),
  solver: z.string(),
  /** First attempts of both, where both could be decided. */
  outcomes: z.object({
    both: count,
    onlyReference: count,
    onlySolver: count,
    neither: count,
    /** Tasks where one of them could not be decided or failed. */
    leftOut: count,
  }),
  /** McNemar's test, exact: how likely such a difference is between solvers that are equally good. */
  p: z.number(),
  /** Share of right answers, the solver's less the reference's, over the tasks on which neither failed. */
  difference: MaybeEstimate,
  isEqualOrBetter: z.boolean(),
  /** Share of the reference's tokens that the solver does not need; null too where different tokenizers counted. */
  saved: z.object({
    once: MaybeEstimate,
    billed: MaybeEstimate,
    oncePerSuccess: MaybeEstimate,
    billedPerSuccess: MaybeEstimate,
  }),
})
export type PairReport = z.infer<typeof PairReport>

/** How solvers did on a set of tasks. Everything in it follows from the attempts in the log. */
export const EvalReport = z.object({
  v: z.literal(1),
  /** Names its files. */
  id: PathName,
  /** What the figures were reckoned with. */
  settings: z.object({
    seed: count,
    resamples: z.number().int().positive(),
    prices: z.array(z.string()),
    picker: z.string(),
  }),
  suites: z.array(z.object({ suite: z.string(), tasks: count })),
  solvers: z.array(SolverReport),
  pairs: z.array(PairReport),
  /** By task, a letter for each attempt of each solver: c right, w wrong, u undecided, f failed. */
  items: z.array(
    z.object({
      taskId: z.string(),
      suite: z.string(),
      level: z.number().int().optional(),
      hops: z.number().int().optional(),
      outcomes: z.record(z.string(), z.string()),
    }),
  ),
})
export type EvalReport = z.infer<typeof EvalReport>
