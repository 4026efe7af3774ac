import { streamTokens } from '../agent/index.ts'
import type { Rollout } from '../schema/index.ts'

/** Tokens of a reply, counted both ways. */
export interface ServedTokens {
  /** Of the question with its system prompt. */
  prompt: number
  /** Written by the model. */
  sampled: number
  /** Of observations that the model read. */
  inserted: number
  /** Each token counted once, as a server with a prefix cache computes it. */
  once: number
  /** Every request charged for its whole context. */
  billed: number
  /** Of the sampled ones, those outside the answer. */
  reasoning: number
}

export const NO_TOKENS: ServedTokens = {
  prompt: 0,
  sampled: 0,
  inserted: 0,
  once: 0,
  billed: 0,
  reasoning: 0,
}

type Counted = Pick<Rollout, 'promptTokens' | 'spans'>

export function tokensOf(stream: Counted): ServedTokens {
  const { prompt, completion, tool, once, billed } = streamTokens(stream)
  const answer = stream.spans
    .filter(({ kind }) => kind === 'answer')
    .reduce((sum, { tokens = [] }) => sum + tokens.length, 0)
  return { prompt, sampled: completion, inserted: tool, once, billed, reasoning: completion - answer }
}

export const sumOf = (all: readonly ServedTokens[]): ServedTokens =>
  all.reduce((sum, tokens) => combined(sum, tokens, 1), NO_TOKENS)

/** What came since an earlier part of the same chain. */
export const since = (now: ServedTokens, before: ServedTokens): ServedTokens => combined(now, before, -1)

function combined(one: ServedTokens, other: ServedTokens, sign: 1 | -1): ServedTokens {
  const add = (key: keyof ServedTokens): number => one[key] + sign * other[key]
  return {
    prompt: add('prompt'),
    sampled: add('sampled'),
    inserted: add('inserted'),
    once: add('once'),
    billed: add('billed'),
    reasoning: add('reasoning'),
  }
}
