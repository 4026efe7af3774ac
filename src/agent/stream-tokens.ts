import type { EvalTokens, Rollout, Span } from '../schema/index.ts'

export interface StreamTokens extends EvalTokens {
  /** Model requests. */
  requests: number
}

type TokenSpans = Pick<Rollout, 'promptTokens' | 'spans'>

/**
 * Counts the tokens of a stream; the only counter of a student's tokens. Each request includes everything before it
 * as it was at that time; text added after the last request was never read. `once` is what a server with a prefix
 * cache computes: after an observation was shortened, everything after it is read again, and counts as prompt.
 */
export function streamTokens({ promptTokens = [], spans }: TokenSpans): StreamTokens {
  const totals = { read: 0, completion: 0, tool: 0, billed: 0, requests: 0 }
  let last: { request: number; end: number } | undefined
  for (const { request, start, end } of requestsOf(spans)) {
    const context = promptTokens.length + lengthAt(spans.slice(0, start), request)
    const cached =
      last === undefined
        ? 0
        : promptTokens.length + cachedLength(spans.slice(0, last.end), last.request, request)
    const completion = lengthAt(spans.slice(start, end), request)
    totals.read += context - cached
    totals.completion += completion
    totals.tool += lengthAt(spans.slice(last?.end ?? 0, start), request)
    totals.billed += context + completion
    totals.requests++
    last = { request, end }
  }
  const { read, completion, tool, billed, requests } = totals
  return { prompt: read - tool, completion, tool, once: read + completion, billed, requests }
}

/** Sampled tokens by agent. */
export function tokensByAgent({ spans }: Pick<Rollout, 'spans'>): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { agent, origin, tokens = [] } of spans)
    if ('request' in origin && tokens.length > 0) counts[agent] = (counts[agent] ?? 0) + tokens.length
  return counts
}

/** Tokens by origin, as added: nothing shortened, nothing read twice. */
export function enteredTokens({ promptTokens = [], spans }: TokenSpans): {
  prompt: number
  sampled: number
  inserted: number
} {
  const entered = { prompt: promptTokens.length, sampled: 0, inserted: 0 }
  for (const { origin, tokens = [] } of spans)
    entered['request' in origin ? 'sampled' : 'inserted'] += tokens.length
  return entered
}

/** The tokens of a span as the model saw them in a request: an observation may have been shortened by then. */
export function tokensAt({ tokens = [], shortened }: Span, request: number): readonly number[] {
  return shortened !== undefined && shortened.request <= request ? shortened.tokens : tokens
}

/** The spans of each request: from `start` up to, not including, `end`. */
function* requestsOf(spans: readonly Span[]): Generator<{ request: number; start: number; end: number }> {
  let open: { request: number; start: number; end: number } | undefined
  for (const [at, { origin }] of spans.entries()) {
    const request = 'request' in origin ? origin.request : undefined
    if (open !== undefined && open.request === request) {
      open.end = at + 1
      continue
    }
    if (open !== undefined) yield open
    open = request === undefined ? undefined : { request, start: at, end: at + 1 }
  }
  if (open !== undefined) yield open
}

function lengthAt(spans: readonly Span[], request: number): number {
  return spans.reduce((sum, span) => sum + tokensAt(span, request).length, 0)
}

/** Length of the common prefix of the context at request `last`, including its completion, and at request `now`. */
function cachedLength(known: readonly Span[], last: number, now: number): number {
  let length = 0
  for (const span of known) {
    const [before, after] = [tokensAt(span, last), tokensAt(span, now)]
    if (before !== after) return length + sharedPrefix(before, after)
    length += after.length
  }
  return length
}

function sharedPrefix(left: readonly number[], right: readonly number[]): number {
  const most = Math.min(left.length, right.length)
  let length = 0
  while (length < most && left[length] === right[length]) length++
  return length
}
