import { z } from 'zod'
import { Price } from '../../schema/index.ts'
import { table } from '../../settings/index.ts'
import { modelSection } from '../../world/settings.ts'

export const Prices = table(Price)

/** Any suite with any solver. The model described here answers as a plain model or a ReAct agent; without one, [teacher] does. */
export const EvalSection = z
  .strictObject({
    ...modelSection,
    /** Of each solver at each task. */
    attempts: z.number().int().positive().default(1),
    /** Attempts at the same time. */
    concurrency: z.number().int().positive().default(32),
    /** Of models. Left out: 0 for one attempt, rollout.temperature for several. */
    temperature: z.number().nonnegative().optional(),
    /** Who chooses one of several answers: the most frequent one, the checker (an upper bound), or the model of [judge]. */
    picker: z.enum(['majority', 'oracle', 'judge']).default('majority'),
    /** Tool calls of a ReAct agent. */
    max_turns: z.number().int().positive().default(25),
    /** Of one reply of a plain model or a ReAct agent. */
    max_tokens: z.number().int().positive().default(2048),
    /** Draws behind each interval that is not reckoned directly. */
    resamples: z.number().int().positive().default(2000),
    /** For a million tokens, in and out, by a solver's name or kind: { team = { prompt = 3, completion = 15 } }. */
    prices: Prices.default({}),
  })
  .prefault({})
export type EvalSection = z.infer<typeof EvalSection>
