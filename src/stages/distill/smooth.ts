import type { Stream, Trajectory } from '../../schema/index.ts'
import { type ChatModel, promptFunction } from '../../world/models/index.ts'
import { linksOf } from './causal-order.ts'
import { type DistillOptions, draftOf, finish } from './distill-trajectory.ts'
import type { DraftStep, Piece } from './draft.ts'

/** A block joined from the texts of several agents. */
interface Joint {
  question: string
  agent: string
  pieces: readonly Piece[]
}

/** Rewrites the pieces of a joint as one text, which is trained on; an empty result leaves the joint unchanged. */
export type Smooth = (joint: Joint, signal: AbortSignal) => Promise<string>

/**
 * Distills and smooths the transitions between agents. Rewritten spans are listed in `meta.smoothed`, and the origin
 * says so: their text is no longer that of their source events.
 */
export async function distillSmoothly(
  trajectory: Trajectory,
  { smooth, signal, ...options }: DistillOptions & { smooth: Smooth; signal: AbortSignal },
): Promise<Stream> {
  const links = linksOf(trajectory)
  const draft = draftOf(links, options)
  const smoothed: number[] = []
  // All at once: the model's own limit says how many requests there are at the same time.
  const rest = new AbortController()
  const either = AbortSignal.any([signal, rest.signal])
  const texts = await Promise.all(
    draft.steps.map(({ agent, pieces }) =>
      pieces === undefined ? '' : smooth({ question: trajectory.question, agent, pieces }, either),
    ),
    // After a failure nobody wants the other ones.
  ).finally(() => rest.abort())
  const steps = draft.steps.map((step, index): DraftStep => {
    const text = texts[index]!.trim()
    if (text !== '' && text !== step.text) smoothed.push(index)
    return text === '' ? step : { ...step, text }
  })
  const sequence = finish(trajectory, options.grammar, { ...draft, steps }, links)
  if (smoothed.length === 0) return sequence
  return {
    ...sequence,
    provenance: { ...sequence.provenance!, origin: 'distilled, smoothed' },
    meta: { ...sequence.meta, smoothed },
  }
}

const instructions =
  'Several members of a team thought the following one after another. Write it as the one train of thought of a single ' +
  'person. Keep every fact, number, name and decision, add nothing, and write nothing else.'

/** Smooths with a chat model. */
export function smoothWith(model: ChatModel): Smooth {
  const ask = promptFunction(model)
  return ({ question, pieces }, signal) =>
    ask(
      {
        system: instructions,
        user: `Question: ${question}\n\n${pieces.map(({ text }) => text).join('\n\n')}`,
      },
      signal,
    )
}
