import type { EvalTokens, Rollout } from '../schema/index.ts'
import type { Attempt } from './contract.ts'

/** A rollout of the student as an attempt. */
export function attemptOfRollout(rollout: Rollout): Attempt {
  const { answer, verdict, calls, wellFormed, ms, failure, segments } = rollout
  return {
    ...(answer === undefined ? {} : { answer }),
    verdict: verdict ?? { outcome: 'undecided', checker: 'none', evidence: 'it was not checked' },
    tokens: tokensOfSegments(segments),
    calls: calls.length,
    requests: segments.filter(({ origin }) => origin === 'sampled').length,
    ms: Math.round(ms.sampling + ms.tools),
    wellFormed,
    ...(failure === undefined ? {} : { failure }),
    written: { kind: 'rollout', record: rollout },
  }
}

/**
 * Each sampled segment was one request, for which the model was given everything before it. What entered after the last
 * one was read by nobody.
 */
function tokensOfSegments(segments: Rollout['segments']): EvalTokens {
  const counts = { prompt: 0, sampled: 0, inserted: 0 }
  let billed = 0
  const read = segments.slice(0, 1 + segments.findLastIndex(({ origin }) => origin === 'sampled'))
  for (const [at, { origin, tokens }] of read.entries()) {
    counts[origin] += tokens.length
    if (origin === 'sampled') billed += contextLength(segments, at) + tokens.length
  }
  const { prompt, sampled: completion, inserted: tool } = counts
  return { prompt, completion, tool, once: prompt + completion + tool, billed }
}

/** Tokens before segment `at` as the model saw them then: some observations shortened by that time. */
function contextLength(segments: Rollout['segments'], at: number): number {
  let length = 0
  for (const segment of segments.slice(0, at)) {
    const { shortened } = segment.origin === 'inserted' ? segment : {}
    length += (shortened !== undefined && shortened.from <= at ? shortened : segment).tokens.length
  }
  return length
}
