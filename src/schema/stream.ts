import { z } from 'zod'
import { Verdict } from './verdict.ts'

const number = z.number().int().nonnegative()

export const SpanKind = z.enum(['role', 'call', 'observation', 'answer'])
export type SpanKind = z.infer<typeof SpanKind>

/** Where a span comes from: events of a team's trajectory, a sampling request, or the tool call it is the output of. */
const SpanOrigin = z.union([
  z.strictObject({ events: z.array(z.string()) }),
  z.strictObject({ request: number }),
  z.strictObject({ call: number }),
])

/** One agent's turn as it appears in the stream, including tags and adjoining white space. */
export const Span = z.object({
  agent: z.string(),
  /** An observation is what the runtime inserts. It is masked, and nothing else is: see `isTrained`. */
  kind: SpanKind,
  text: z.string(),
  origin: SpanOrigin,
  /** The tokens whose text ends in this span, exactly as sampled or inserted: never encoded a second time. */
  tokens: z.array(number).optional(),
  /** Of each sampled token under the distribution it was sampled from, temperature and grammar mask included. */
  logprobs: z.array(z.number()).optional(),
  /** Of each sampled token under the model itself; left out where that is the same distribution. */
  modelLogprobs: z.array(z.number()).optional(),
  /** How many steps the weights had been trained for in RL when they sampled these tokens: runs, in order. */
  policies: z.array(z.object({ step: number, tokens: number })).optional(),
  /** What the model saw instead of this observation from that request on, once the context had become too long. */
  shortened: z.object({ request: number, tokens: z.array(number) }).optional(),
})
export type Span = z.infer<typeof Span>

/** One message of a chat prompt. */
export const Message = z.object({ role: z.enum(['system', 'user', 'assistant']), content: z.string() })
export type Message = z.infer<typeof Message>

/**
 * A prompt and the single-agent stream that follows it: what a team's run was distilled into, or what a student wrote. The spans'
 * texts joined are the stream, character for character; their tokens joined are its tokens.
 */
export const Stream = z.object({
  v: z.literal(2),
  id: z.string().min(1),
  taskId: z.string().optional(),
  grammar: z.string(),
  prompt: z.array(Message),
  promptTokens: z.array(number).optional(),
  spans: z.array(Span),
  provenance: z
    .object({
      trajectoryId: z.string().optional(),
      /** What made the sequence: a distiller, an importer, a person. `react`: see `reactOrigin`. */
      origin: z.string(),
      /** True when a step it came from had seen the gold answer. */
      sawGold: z.boolean().default(false),
    })
    .optional(),
  verdict: Verdict.optional(),
  meta: z.record(z.string(), z.json()).default({}),
})
export type Stream = z.infer<typeof Stream>

/** The mask, as a rule: everything but observations is trained on. */
export function isTrained({ kind }: Pick<Span, 'kind'>): boolean {
  return kind !== 'observation'
}

/**
 * The text of a stream after its prompt: the texts of its spans, joined. Nothing is shortened.
 *
 * @example
 * import { openRun } from 'chain-of-agents'
 * import { streamText } from 'chain-of-agents/schema'
 *
 * using run = openRun('runs/my-run')
 * for (const sequence of run.scan('sequence')) console.log(streamText(sequence))
 */
export function streamText({ spans }: { spans: readonly Pick<Span, 'text'>[] }): string {
  return spans.map(({ text }) => text).join('')
}

/**
 * Marks a sequence in which a single agent works ReAct-style. It is made from a distilled one and goes with it: it is
 * trained on where the other was kept.
 */
export const reactOrigin = 'react'

/** The id of the ReAct-style sequence of a team's run. */
export function reactId(trajectoryId: string): string {
  return `react-${trajectoryId}`
}

export function isReact({ provenance }: Pick<Stream, 'provenance'>): boolean {
  return provenance?.origin === reactOrigin
}
