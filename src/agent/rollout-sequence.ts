import type { Rollout, Stream } from '../schema/index.ts'

/** Without tokens and log-probabilities, which belong to the policy of the moment: a sequence is trained on as text. */
export function sequenceOfRollout(
  { id, taskId, grammar, prompt, spans, verdict, answer, meta }: Rollout,
  origin: string,
  more: Stream['meta'] = {},
): Stream {
  return {
    v: 2,
    id,
    taskId,
    grammar,
    prompt,
    spans: spans.map(({ agent, kind, text, origin: from }) => ({ agent, kind, text, origin: from })),
    provenance: { origin, sawGold: false },
    ...(verdict === undefined ? {} : { verdict }),
    meta: { ...meta, ...more, ...(answer === undefined ? { unanswered: true } : {}) },
  }
}
