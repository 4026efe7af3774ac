import { z } from 'zod'
import type { EngineSection } from '../engine/settings.ts'
import { nameOrPath } from '../settings/index.ts'

/** The one model that is to do what the team did. */
export const StudentSection = z
  .strictObject({
    /** A folder in the Hugging Face layout, or "nano": the small one that comes with coa. */
    model: nameOrPath().default('nano'),
    /** Train small matrices beside the weights instead of the weights; 0 trains everything. */
    lora_rank: z.number().int().nonnegative().default(0),
  })
  .prefault({})
export type StudentSection = z.infer<typeof StudentSection>

/** The student at work: how it is sampled, and when it has to stop. */
export const RolloutSection = z
  .strictObject({
    temperature: z.number().nonnegative().default(1),
    top_p: z.number().positive().max(1).default(1),
    /** 0: all tokens. */
    top_k: z.number().int().nonnegative().default(0),
    /** Tool calls, malformed ones included. */
    max_turns: z.number().int().positive().default(25),
    /** After the prompt, observations included. */
    max_tokens: z.number().int().positive().default(30_000),
    max_seconds: z.number().positive().default(600),
    /** How often a tool may be called with the same input before the rollout ends. */
    max_same_call: z.number().int().positive().default(3),
    /** Tokens of one observation; a longer one loses its middle. 0: no limit but tools.output_limit. */
    observation_tokens: z.number().int().nonnegative().default(0),
    /** Sample only what the grammar allows, so that format errors cannot happen. */
    constrained: z.boolean().default(false),
    /** Rollouts at work at the same time. */
    concurrency: z.number().int().positive().default(64),
  })
  .prefault({})
export type RolloutSection = z.infer<typeof RolloutSection>

/** What a student is opened with. */
export interface StudentConfig {
  student: StudentSection
  engine: EngineSection
}
