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

/** What an agent's words are in the work of the team. */
export const Contribution = z.enum([
  'facts',
  'plan',
  /** An order to another agent. */
  'task',
  /** The words of a tool call. */
  'call',
  /** What a tool agent tells the one who sent it. */
  'report',
  'reflection',
  'suggestion',
  /** A judgement of a suggested answer. */
  'check',
  'answer',
])
export type Contribution = z.infer<typeof Contribution>

/** One event of a team's run: an agent starts, writes, sends a message, calls a tool, answers or fails. */
export const TrajectoryEvent = z.discriminatedUnion('type', [
  /** An agent starts working; `messages` is its prompt in full, as a model would receive it. */
  z.object({
    ...base,
    type: z.literal('activated'),
    messages: z.array(z.object({ role: z.string(), content: z.string() })),
    /** True when the prompt held the gold answer. */
    sawGold: z.boolean().optional(),
  }),
  /** What the activated agent wrote, word for word. Where it can be told apart: its thought, and what it said as what. */
  z.object({
    ...base,
    type: z.literal('wrote'),
    text: z.string(),
    thought: z.string().optional(),
    said: z.object({ as: Contribution, text: z.string() }).optional(),
    usage: Usage.optional(),
  }),
  /** One agent hands a message to another. A message that only passes on what an event said names that event. */
  z.object({
    ...base,
    type: z.literal('sent'),
    to: z.string(),
    text: z.string(),
    forwards: z.string().optional(),
  }),
  /** `input` is the payload as the grammar's parser would read it, or the arguments of a foreign tool. */
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

/** A team's run on one task, as an append-only list of events. */
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
