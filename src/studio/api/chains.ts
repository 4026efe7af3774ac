import type { Span, Stream } from '../../schema/index.ts'
import type { MarkView } from './actions.ts'
import type { Outcome } from './common.ts'

export interface ChainRow {
  id: string
  taskId?: string
  trajectoryId?: string
  suite: string
  grammar: string
  origin: string
  outcome: Outcome
  question: string
  spans: number
  calls: number
  characters: number
  /** Undefined if the run has not been filtered, or the filter passed over it. */
  kept?: boolean
  weight?: number
  dropped?: { stage: string; reason: string; detail: string }
  mark?: MarkView
}

export interface ChainView {
  row: ChainRow
  chain: Omit<Stream, 'spans' | 'promptTokens'>
  spans: SpanView[]
  tokenCounts?: TokenCounts
}

export interface SpanView {
  index: number
  agent: string
  kind: Span['kind']
  text: string
  /** Observations are masked; everything else is trained on. */
  trained: boolean
  origin: Span['origin']
  /** Number of tokens, where they were recorded. */
  tokens?: number
  meanLogprob?: number
  shortened?: boolean
}

export interface TokenCounts {
  prompt: number
  trained: number
  masked: number
}

/**
 * The tokens after the prompt, as columns of equal length. Where the tokenizer is not available, `texts` is undefined. A character
 * of several tokens is the text of the last of them.
 */
export interface TokensView {
  from: number
  total: number
  ids: number[]
  texts?: string[]
  /** The span of each token. */
  spans: number[]
  /** 1: trained on. */
  mask: number[]
  /** Of sampled tokens; null elsewhere. */
  logprobs?: (number | null)[]
  modelLogprobs?: (number | null)[]
  /** The training step of the weights that sampled it; null elsewhere. */
  policies?: (number | null)[]
  /** The advantage of the rollout where a token is trained on, otherwise 0. */
  advantages?: number[]
  /** Which tokenizer gave the texts, or, for chains without recorded tokens, the tokens. */
  tokenizer?: string
}
