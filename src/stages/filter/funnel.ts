import { z } from 'zod'
import { stageNames } from './decide.ts'

const count = z.number().int().nonnegative()
/** Of all sequences looked at, and of those that were kept. */
const both = { all: count, kept: count }

/** What the filters did to a run. */
export const Funnel = z.object({
  v: z.literal(1),
  /** Tells whether the same input was filtered with the same settings. */
  fingerprint: z.string(),
  settings: z.record(z.string(), z.json()),
  sequences: count,
  /** Not looked at, because of where they come from. */
  passedOver: count,
  kept: count,
  /** The kept ones, each as often as it weighs. */
  copies: count,
  upSampled: count,
  /** Retention is of all sequences looked at. */
  stages: z.array(z.object({ name: z.enum(stageNames), before: count, after: count, retention: z.number() })),
  suites: z.array(z.object({ suite: z.string(), ...both })),
  interactions: z.array(z.object({ interactions: count, ...both })),
  tools: z.array(z.object({ tool: z.string(), calls: z.object(both), sequences: z.object(both) })),
  reasons: z.array(
    z.object({
      stage: z.enum(stageNames),
      reason: z.string(),
      count,
      examples: z.array(z.object({ id: z.string(), detail: z.string() })),
    }),
  ),
})
export type Funnel = z.infer<typeof Funnel>
