import { z } from 'zod'
import { Usage } from './usage.ts'
import { Verdict } from './verdict.ts'

/** One solver on one task. Every task of the suite has an item: an unanswered one counts as wrong. */
export const EvalItem = z.object({
  taskId: z.string(),
  attempt: z.number().int().nonnegative(),
  answer: z.string().optional(),
  verdict: Verdict,
  usage: Usage,
  toolCalls: z.number().int().nonnegative(),
  ms: z.number().nonnegative(),
})
export type EvalItem = z.infer<typeof EvalItem>

export const EvalReport = z.object({
  v: z.literal(1),
  id: z.string().min(1),
  suite: z.string(),
  solver: z.string(),
  items: z.array(EvalItem),
  metrics: z.record(z.string(), z.number()),
})
export type EvalReport = z.infer<typeof EvalReport>
