import { z } from 'zod'
import { Stream } from './stream.ts'

/** One call of a tool, or what should have been one. */
const RolloutCall = z.object({
  agent: z.string(),
  /** `malformed`: its payload could not be read, so nothing was called. `environment`: the tool could not do its work. */
  outcome: z.enum(['ok', 'refused', 'malformed', 'environment']),
  ms: z.number().nonnegative(),
  cached: z.boolean().default(false),
})

/** A stream that a student wrote with live tools: how it was sampled, its tool calls, its answer and its verdict. */
export const Rollout = Stream.extend({
  taskId: z.string(),
  /** Rollouts of one prompt that are compared with each other. Always explicit. */
  groupId: z.string().min(1),
  /** What sampled it, and after how many training steps. */
  checkpoint: z.string(),
  seed: z.number().int().nonnegative(),
  stop: z.enum(['answer', 'turns', 'tokens', 'time', 'repetition', 'context', 'end', 'failed']),
  answer: z.string().optional(),
  reward: z.number().optional(),
  calls: z.array(RolloutCall),
  /** Follows its grammar in every respect. */
  wellFormed: z.boolean(),
  ms: z.object({ sampling: z.number(), tools: z.number(), checking: z.number() }),
  /** Why it must be left out of training: something outside of the model failed. */
  failure: z.object({ boundary: z.string(), message: z.string() }).optional(),
})
export type Rollout = z.infer<typeof Rollout>
