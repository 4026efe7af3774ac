import { z } from 'zod'
import { PathName } from './path-name.ts'
import { Verdict } from './verdict.ts'

const count = z.number().int().nonnegative()

/**
 * Tokens of one attempt. `once` counts each token once, as a server with a prefix cache computes them: the sum of the
 * first three. `billed` is what a service without prefix caching charges for: the full prompt of every request, plus
 * the completions.
 */
export const EvalTokens = z.object({
  prompt: count,
  completion: count,
  /** Tool output. */
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
  /** Digest of everything that affects the solver: model weights, settings, limits. */
  how: z.string(),
  /** The tokenizer used for counting; counts from different tokenizers are not compared. */
  tokenizer: z.string(),
  taskId: z.string(),
  /** Index of the task among all evaluated tasks. */
  position: count,
  suite: z.string(),
  level: z.number().int().optional(),
  hops: z.number().int().optional(),
  attempt: count,
  seed: count,
  /** 2 if the first try failed for a reason outside the solver. */
  tries: z.number().int().positive(),
  answer: z.string().optional(),
  verdict: Verdict,
  tokens: EvalTokens,
  /** Number of tool calls. */
  calls: count,
  /** Number of model requests. */
  requests: count,
  ms: z.number().nonnegative(),
  wellFormed: z.boolean().optional(),
  /** A failure outside the solver that also occurred on the retry. */
  failure: z.object({ boundary: z.string(), message: z.string() }).optional(),
  /** The record with the full text, if it was stored. */
  source: z.object({ kind: z.enum(['rollout', 'trajectory']), id: z.string() }).optional(),
  /** Whether a judge selected it among the attempts at its task. */
  picked: z.boolean().optional(),
})
export type EvalAttempt = z.infer<typeof EvalAttempt>

/** A metric with its 95% confidence interval. */
const Estimate = z.object({ value: z.number(), low: z.number(), high: z.number() })
export type Estimate = z.infer<typeof Estimate>
/** Null if there is no data. */
const MaybeEstimate = Estimate.nullable()

/** Accuracy over all attempts, and over those that could be decided. */
const Shares = z.object({ strict: Estimate, decided: MaybeEstimate })

const SolverReport = z.object({
  name: z.string(),
  kind: z.string(),
  tokenizer: z.string(),
  tasks: count,
  /** Per task. */
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
  /** The unbiased estimate of pass@k. */
  pass: z.array(z.object({ k: z.number().int().positive(), ...Shares.shape })),
  /** One answer per task chosen from all attempts: by majority vote, and by the picker. */
  majority: z.object({ n: count, ...Estimate.shape }).nullable(),
  best: z.object({ n: count, picker: z.string(), ...Estimate.shape }).nullable(),
  wellFormed: z.number().nullable(),
  /** Means per attempt. */
  tokens: z.object({
    prompt: Estimate,
    completion: Estimate,
    tool: Estimate,
    once: Estimate,
    billed: Estimate,
  }),
  /** Total tokens divided by the number of correct answers. */
  tokensPerSuccess: z.object({ once: MaybeEstimate, billed: MaybeEstimate }),
  calls: Estimate,
  callsPerSuccess: z.number().nullable(),
  requests: Estimate,
  ms: Estimate,
  /** Over all attempts; null if the settings specify no prices. */
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

/** Two solvers on the same tasks; differences are relative to the reference. */
const PairReport = z.object({
  reference: z.string(),
  solver: z.string(),
  /** First attempts of both, where both were decided. */
  outcomes: z.object({
    both: count,
    onlyReference: count,
    onlySolver: count,
    neither: count,
    /** Tasks where one of them was undecided or failed. */
    leftOut: count,
  }),
  /** P-value of McNemar's exact test. */
  p: z.number(),
  /** Accuracy of the solver minus that of the reference, over the tasks on which neither failed. */
  difference: MaybeEstimate,
  isEqualOrBetter: z.boolean(),
  /** Fraction of the reference's tokens that the solver saves; null also if the tokenizers differ. */
  saved: z.object({
    once: MaybeEstimate,
    billed: MaybeEstimate,
    oncePerSuccess: MaybeEstimate,
    billedPerSuccess: MaybeEstimate,
  }),
})
export type PairReport = z.infer<typeof PairReport>

/** Per million tokens. */
export const Price = z.strictObject({
  prompt: z.number().nonnegative(),
  completion: z.number().nonnegative(),
})
export type Price = z.infer<typeof Price>

/** How solvers did on a set of tasks. Everything in it follows from the attempts in the log. */
export const EvalReport = z.object({
  v: z.literal(1),
  /** Also the name of its files. */
  id: PathName,
  /** Settings used to compute the metrics. */
  settings: z.object({
    seed: count,
    resamples: z.number().int().positive(),
    /** Of solvers by name or kind; lines such as "team=3/15" in reports of earlier versions. */
    prices: z.union([z.record(z.string(), Price), z.array(z.string())]),
    picker: z.string(),
  }),
  suites: z.array(z.object({ suite: z.string(), tasks: count })),
  solvers: z.array(SolverReport),
  pairs: z.array(PairReport),
  /** Per task, one letter for each attempt of each solver: c correct, w wrong, u undecided, f failed. */
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
