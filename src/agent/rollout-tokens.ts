import type { EvalTokens, Rollout, RolloutSegment } from '../schema/index.ts'

export interface RolloutTokens extends EvalTokens {
  /** To the model. */
  requests: number
}

/**
 * What a rollout cost. Each sampled segment was one request, for which the model was given everything before it as it
 * was at that time; what entered after the last request was read by nobody. `once` is what a server with a prefix cache
 * computes: after an observation was shortened, everything behind it is read again, and counts as prompt.
 */
export function rolloutTokens({ segments }: Pick<Rollout, 'segments'>): RolloutTokens {
  const totals = { read: 0, completion: 0, tool: 0, billed: 0, requests: 0 }
  let last = -1
  for (const [at, { origin, tokens }] of segments.entries()) {
    if (origin !== 'sampled') continue
    const context = lengthOf(segments.slice(0, at), at)
    totals.read += context - cachedLength(segments.slice(0, last + 1), last, at)
    totals.completion += tokens.length
    totals.tool += lengthOf(
      segments.slice(last + 1, at).filter((one) => one.origin === 'inserted'),
      at,
    )
    totals.billed += context + tokens.length
    totals.requests++
    last = at
  }
  const { read, completion, tool, billed, requests } = totals
  return { prompt: read - tool, completion, tool, once: read + completion, billed, requests }
}

function lengthOf(segments: readonly RolloutSegment[], at: number): number {
  return segments.reduce((sum, segment) => sum + tokensAt(segment, at).length, 0)
}

/** How much of what the model had read and written by request `last` begins the context of request `at` unchanged. */
function cachedLength(known: readonly RolloutSegment[], last: number, at: number): number {
  let length = 0
  for (const segment of known) {
    const [before, now] = [tokensAt(segment, last), tokensAt(segment, at)]
    if (before !== now) return length + sharedPrefix(before, now)
    length += now.length
  }
  return length
}

/** The segment as the model saw it when it sampled segment `at`: an observation may have been shortened by then. */
function tokensAt(segment: RolloutSegment, at: number): readonly number[] {
  const { shortened } = segment.origin === 'inserted' ? segment : {}
  return shortened !== undefined && shortened.from <= at ? shortened.tokens : segment.tokens
}

function sharedPrefix(left: readonly number[], right: readonly number[]): number {
  const most = Math.min(left.length, right.length)
  let length = 0
  while (length < most && left[length] === right[length]) length++
  return length
}
