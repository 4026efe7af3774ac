import { z } from 'zod'
import { Verdict } from './verdict.ts'

/** Tokens in the order they entered the context, exactly as sampled or inserted: never re-encoded. */
export const RolloutSegment = z.discriminatedUnion('origin', [
  z.object({ origin: z.literal('prompt'), tokens: z.array(z.number().int()) }),
  z.object({
    origin: z.literal('sampled'),
    tokens: z.array(z.number().int()),
    logprobs: z.array(z.number()),
  }),
  z.object({ origin: z.literal('inserted'), tokens: z.array(z.number().int()) }),
])
export type RolloutSegment = z.infer<typeof RolloutSegment>

export const Rollout = z.object({
  v: z.literal(1),
  id: z.string().min(1),
  taskId: z.string(),
  /** Rollouts of one prompt that are compared with each other. Always explicit. */
  groupId: z.string().min(1),
  checkpoint: z.string(),
  grammar: z.string(),
  segments: z.array(RolloutSegment),
  text: z.string(),
  stop: z.enum(['answer', 'turns', 'tokens', 'time', 'repetition', 'context', 'end', 'failed']),
  answer: z.string().optional(),
  verdict: Verdict.optional(),
  reward: z.number().optional(),
  meta: z.record(z.string(), z.json()).default({}),
})
export type Rollout = z.infer<typeof Rollout>
