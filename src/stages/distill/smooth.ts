import type { Stream, Trajectory } from '../../schema/index.ts'
import { type ChatModel, promptFunction } from '../../world/models/index.ts'
import { linksOf } from './causal-order.ts'
import { type DistillOptions, draftOf, finish } from './distill-trajectory.ts'
import type { DraftStep, Piece } from './draft.ts'
import { smoothingFault } from './smoothing-check.ts'

/** A block joined from the texts of several agents. */
interface Joint {
  question: string
  agent: string
  pieces: readonly Piece[]
}

/** Rewrites the pieces of a joint as one text, which is trained on; an empty result leaves the joint unchanged. */
export type Smooth = (joint: Joint, signal: AbortSignal) => Promise<string>

/**
 * Distills and smooths the transitions between agents. A rewrite is accepted only if it keeps every number, name and
 * code block; the others are counted in `meta.smoothingRejected`. Rewritten spans are listed in `meta.smoothed`, and the
 * origin says so: their text is no longer that of their source events.
 */
export async function distillSmoothly(
  trajectory: Trajectory,
  { smooth, signal, ...options }: DistillOptions & { smooth: Smooth; signal: AbortSignal },
): Promise<Stream> {
  const links = linksOf(trajectory)
  const draft = draftOf(trajectory, links, options)
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
  const rejected: Record<string, number> = {}
  const steps = draft.steps.map((step, index): DraftStep => {
    const text = texts[index]!.trim()
    if (text === '' || text === step.text) return step
    const fault = smoothingFault(step.text, text)
    if (fault !== undefined) {
      rejected[fault] = (rejected[fault] ?? 0) + 1
      return step
    }
    smoothed.push(index)
    return { ...step, text }
  })
  const sequence = finish(trajectory, options.grammar, { ...draft, steps }, links)
  const meta = {
    ...sequence.meta,
    ...(smoothed.length === 0 ? {} : { smoothed }),
    ...(Object.keys(rejected).length === 0 ? {} : { smoothingRejected: rejected }),
  }
  if (smoothed.length === 0) return { ...sequence, meta }
  return { ...sequence, provenance: { ...sequence.provenance!, origin: 'distilled, smoothed' }, meta }
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
