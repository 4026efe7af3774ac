import { z } from 'zod'
import type { EngineSection } from '../engine/settings.ts'
import { nameOrPath } from '../settings/index.ts'

/** The model that is trained to do the team's work. */
export const StudentSection = z
  .strictObject({
    /** A folder in the Hugging Face layout, or "nano": the bundled small model. */
    model: nameOrPath().default('nano'),
    /** LoRA rank; 0 trains all weights. */
    lora_rank: z.number().int().nonnegative().default(0),
  })
  .prefault({})
export type StudentSection = z.infer<typeof StudentSection>

/** How the student is sampled, and when a rollout has to stop. */
export const RolloutSection = z
  .strictObject({
    temperature: z.number().nonnegative().default(1),
    top_p: z.number().positive().max(1).default(1),
    /** 0: all tokens. */
    top_k: z.number().int().nonnegative().default(0),
    /** Maximum number of tool calls, malformed ones included. */
    max_turns: z.number().int().positive().default(25),
    /** Maximum tokens after the prompt, observations included. */
    max_tokens: z.number().int().positive().default(30_000),
    max_seconds: z.number().positive().default(600),
    /** How often a tool may be called with the same input before the rollout ends. */
    max_same_call: z.number().int().positive().default(3),
    /** Maximum tokens per observation; longer ones lose their middle. 0: no limit besides tools.output_limit. */
    observation_tokens: z.number().int().nonnegative().default(0),
    /** Sample only what the grammar allows, so that format errors cannot happen. */
    constrained: z.boolean().default(false),
    /** Work in ReAct style, under the prompt of the grammar without its roles: for a model trained with sft.react_share. */
    react: z.boolean().default(false),
    /** Concurrent rollouts. */
    concurrency: z.number().int().positive().default(64),
  })
  .prefault({})
export type RolloutSection = z.infer<typeof RolloutSection>

export interface StudentConfig {
  student: StudentSection
  engine: EngineSection
}
