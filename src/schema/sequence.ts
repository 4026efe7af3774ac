import { z } from 'zod'
import { Verdict } from './verdict.ts'

export const SpanKind = z.enum(['role', 'call', 'observation', 'answer'])
export type SpanKind = z.infer<typeof SpanKind>

/** One agent's turn as it appears in the stream, including tags and adjoining white space. */
export const Span = z.object({
  agent: z.string(),
  kind: SpanKind,
  text: z.string(),
  /** The trajectory events this span was made from. */
  source: z.array(z.string()).default([]),
  /** False for what the runtime inserts (observations): no loss, no ratio, no statistic. */
  trainable: z.boolean(),
})
export type Span = z.infer<typeof Span>

/** One message of a chat prompt. */
export const Message = z.object({ role: z.enum(['system', 'user', 'assistant']), content: z.string() })
export type Message = z.infer<typeof Message>

/** A run as a single agent's work: the prompt, then spans whose joined texts are the model's stream. */
export const CoaSequence = z.object({
  v: z.literal(1),
  id: z.string().min(1),
  taskId: z.string().optional(),
  grammar: z.string(),
  prompt: z.array(Message),
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
export type CoaSequence = z.infer<typeof CoaSequence>

/**
 * Marks a sequence in which a single agent works ReAct-style. It is made from a distilled one and goes with it: it is
 * trained on where the other was kept.
 */
export const reactOrigin = 'react'

/** The id of the ReAct-style sequence of a team's run. */
export function reactId(trajectoryId: string): string {
  return `react-${trajectoryId}`
}

export function isReact({ provenance }: Pick<CoaSequence, 'provenance'>): boolean {
  return provenance?.origin === reactOrigin
}

/**
 * The text of a sequence after its prompt: the texts of its spans, joined.
 *
 * @example
 * import { openRun } from 'chain-of-agents'
 * import { sequenceText } from 'chain-of-agents/schema'
 *
 * using run = openRun('runs/my-run')
 * for (const sequence of run.scan('sequence')) console.log(sequenceText(sequence))
 */
export function sequenceText(sequence: Pick<CoaSequence, 'spans'>): string {
  return sequence.spans.map((span) => span.text).join('')
}
