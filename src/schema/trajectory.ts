import { z } from 'zod'
import { Usage } from './usage.ts'
import { Verdict } from './verdict.ts'

const base = {
  id: z.string().min(1),
  /** The event that caused this one; null for the first. */
  parent: z.string().nullable(),
  agent: z.string(),
  /** Milliseconds since the run began. */
  t: z.number().nonnegative(),
}

export const TrajectoryEvent = z.discriminatedUnion('type', [
  /** An agent starts working; `messages` is its prompt in full, as a model would receive it. */
  z.object({
    ...base,
    type: z.literal('activated'),
    messages: z.array(z.object({ role: z.string(), content: z.string() })),
  }),
  /** What the activated agent wrote. */
  z.object({ ...base, type: z.literal('wrote'), text: z.string(), usage: Usage.optional() }),
  /** One agent hands a message to another. */
  z.object({ ...base, type: z.literal('sent'), to: z.string(), text: z.string() }),
  z.object({ ...base, type: z.literal('tool-called'), tool: z.string(), input: z.json() }),
  z.object({
    ...base,
    type: z.literal('tool-answered'),
    tool: z.string(),
    output: z.string(),
    ok: z.boolean(),
  }),
  z.object({ ...base, type: z.literal('answered'), text: z.string() }),
  z.object({ ...base, type: z.literal('failed'), boundary: z.string(), message: z.string() }),
])
export type TrajectoryEvent = z.infer<typeof TrajectoryEvent>

/** A team's run on one task as an append-only list of events. */
export const Trajectory = z.object({
  v: z.literal(1),
  id: z.string().min(1),
  taskId: z.string(),
  team: z.string(),
  question: z.string(),
  events: z.array(TrajectoryEvent),
  answer: z.string().optional(),
  verdict: Verdict.optional(),
  meta: z.record(z.string(), z.json()).default({}),
})
export type Trajectory = z.infer<typeof Trajectory>
