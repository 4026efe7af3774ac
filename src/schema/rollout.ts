import { z } from 'zod'
import { Verdict } from './verdict.ts'

const tokens = z.array(z.number().int().nonnegative())

/** Tokens in the order they entered the context, exactly as sampled or inserted: never re-encoded. */
export const RolloutSegment = z.discriminatedUnion('origin', [
  z.object({ origin: z.literal('prompt'), tokens }),
  z.object({
    origin: z.literal('sampled'),
    tokens,
    /** Of each token under the distribution it was drawn from: temperature, top-p and a mask included. */
    logprobs: z.array(z.number()),
    /** Of each token under the model as it is; left out where that is the same. */
    modelLogprobs: z.array(z.number()).optional(),
  }),
  z.object({
    origin: z.literal('inserted'),
    tokens,
    /** What the model saw in its place from segment `from` on, when the context had become too long. */
    shortened: z.object({ from: z.number().int().positive(), tokens }).optional(),
  }),
])
export type RolloutSegment = z.infer<typeof RolloutSegment>

/** One call of a tool, or what should have been one. */
const RolloutCall = z.object({
  agent: z.string(),
  /** `malformed`: its payload could not be read, so nothing was called. `environment`: the tool could not do its work. */
  outcome: z.enum(['ok', 'refused', 'malformed', 'environment']),
  ms: z.number().nonnegative(),
  cached: z.boolean().default(false),
})

/**
 * One attempt of the model at a task: its tokens exactly as sampled or inserted, its tool calls, its answer and its verdict.
 */
export const Rollout = z.object({
  v: z.literal(1),
  id: z.string().min(1),
  taskId: z.string(),
  /** Rollouts of one prompt that are compared with each other. Always explicit. */
  groupId: z.string().min(1),
  /** What sampled it, and after how many training steps. */
  checkpoint: z.string(),
  grammar: z.string(),
  seed: z.number().int().nonnegative(),
  segments: z.array(RolloutSegment),
  /** What follows the prompt: sampled and inserted text as it entered, nothing shortened. */
  text: z.string(),
  stop: z.enum(['answer', 'turns', 'tokens', 'time', 'repetition', 'context', 'end', 'failed']),
  answer: z.string().optional(),
  verdict: Verdict.optional(),
  reward: z.number().optional(),
  calls: z.array(RolloutCall),
  /** Keeps to its grammar in every respect. */
  wellFormed: z.boolean(),
  /** Sampled tokens of each agent; "" for what stands outside of every block. */
  tokensByAgent: z.record(z.string(), z.number().int().nonnegative()),
  ms: z.object({ sampling: z.number(), tools: z.number(), checking: z.number() }),
  /** Why it is to be left out of training: something outside of the model failed. */
  failure: z.object({ boundary: z.string(), message: z.string() }).optional(),
  meta: z.record(z.string(), z.json()).default({}),
})
export type Rollout = z.infer<typeof Rollout>
