import { z } from 'zod'
import { Usage } from './usage.ts'
import { Verdict } from './verdict.ts'

const base = {
  id: z.string().min(1),
  /** The event that caused this one; null for the first. */
  parent: z.string().nullable(),
  agent: z.string(),
  /** Milliseconds since the start of the run. */
  t: z.number().nonnegative(),
}

/** The purpose of an agent's message within the team. */
export const Contribution = z.enum([
  'facts',
  'plan',
  /** An instruction to another agent. */
  'task',
  /** The text of a tool call. */
  'call',
  /** A tool agent's report to the agent that called it. */
  'report',
  'reflection',
  'suggestion',
  /** An assessment of a suggested answer. */
  'check',
  'answer',
])
export type Contribution = z.infer<typeof Contribution>

/** One event of a team's run: an agent starts, writes, sends a message, calls a tool, answers or fails. */
export const TrajectoryEvent = z.discriminatedUnion('type', [
  /** An agent starts working; `messages` is its full prompt, as a model would receive it. */
  z.object({
    ...base,
    type: z.literal('activated'),
    messages: z.array(z.object({ role: z.string(), content: z.string() })),
    /** True if the prompt contained the gold answer. */
    sawGold: z.boolean().optional(),
  }),
  /** The agent's verbatim output. Where they can be separated: its thought, and what it said with which purpose. */
  z.object({
    ...base,
    type: z.literal('wrote'),
    text: z.string(),
    thought: z.string().optional(),
    said: z.object({ as: Contribution, text: z.string() }).optional(),
    usage: Usage.optional(),
  }),
  /** One agent sends a message to another. A message that only forwards an earlier event names that event. */
  z.object({
    ...base,
    type: z.literal('sent'),
    to: z.string(),
    text: z.string(),
    forwards: z.string().optional(),
  }),
  /** `input` is the payload as parsed by the grammar, or the arguments of an external tool. */
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
