import type { Rollout, Span } from '../../src/schema/index.ts'

/** Shorthand for the spans of a rollout: tokens in the order they were added. */
export type Part =
  | { prompt: number[] }
  | {
      sampled: number[]
      logprobs?: number[]
      modelLogprobs?: number[]
      policies?: Span['policies']
      agent?: string
      text?: string
    }
  | { inserted: number[]; shortened?: { request: number; tokens: number[] }; text?: string }

/** Each sampled part is one request, each inserted part the output of one call. */
export function spansFrom(parts: readonly Part[]): Required<Pick<Rollout, 'promptTokens' | 'spans'>> {
  let promptTokens: number[] = []
  const spans: Span[] = []
  let [request, call] = [0, 0]
  for (const part of parts) {
    if ('prompt' in part) promptTokens = part.prompt
    else if ('sampled' in part) {
      const { sampled: tokens, logprobs = tokens.map(() => -1), agent = 'think', text = '', ...rest } = part
      spans.push({ agent, kind: 'role', text, origin: { request: request++ }, tokens, logprobs, ...rest })
    } else {
      const { inserted: tokens, text = '', ...rest } = part
      const origin = { call: call++ }
      spans.push({ agent: 'observation', kind: 'observation', text, origin, tokens, ...rest })
    }
  }
  return { promptTokens, spans }
}
