import { EngineError } from '../checkpoint/index.ts'
import type { CompletionRequest, Dialect, ResponsePart } from './dialect.ts'

interface Event {
  content?: string
  tokens?: number[]
  tokens_predicted?: number
  completion_probabilities?: { id: number; logprob?: number }[]
  stop?: boolean
  stop_type?: string
  truncated?: boolean
  timings?: { cache_n?: number }
}

/**
 * llama.cpp's server, through its own /completion. Streamed, because an unstreamed response is lost if it ends within a
 * character. Its log-probabilities are those of the unmodified model.
 */
export function llamaCpp(): Dialect {
  return {
    server: 'llama.cpp',
    tokens: true,
    logprobs: 'model',
    allowed: true,
    path: '/completion',
    body: llamaCppBody,
    reader,
    // Its final error on a text that ends within a character or becomes invalid UTF-8; there the output ends.
    isEnd: (cause) => cause instanceof EngineError && cause.message.includes('does not match the expected'),
  }
}

function llamaCppBody(request: CompletionRequest): Record<string, unknown> {
  const { seed, allowed } = request
  return {
    prompt: request.ids,
    n_predict: request.maxTokens,
    temperature: request.temperature,
    top_p: request.topP,
    top_k: request.topK ?? 0,
    // Only these, in the order of the contract: the server has more samplers enabled by default.
    samplers: ['temperature', 'top_k', 'top_p'],
    repeat_penalty: 1,
    ...(seed === undefined ? {} : { seed: seed % 2 ** 32 }),
    ...(allowed === undefined ? {} : { logit_bias: forbidden(allowed) }),
    n_probs: 1,
    return_tokens: true,
    cache_prompt: true,
    stream: true,
  }
}

function forbidden(mask: Uint8Array): [number, false][] {
  const ids: [number, false][] = []
  for (let id = 0; id < mask.length; id++) if (mask[id] === 0) ids.push([id, false])
  return ids
}

function reader(): (event: Event) => ResponsePart {
  let known = 0
  return ({ content = '', tokens = [], tokens_predicted: total, stop, stop_type: why, ...event }) => {
    const probabilities = event.completion_probabilities ?? []
    const reported = tokens.map((id, index) => {
      const found = probabilities[index]
      return { id, logprob: found?.id === id ? (found.logprob ?? Number.NaN) : Number.NaN }
    })
    const unreported = total === undefined ? 0 : Math.max(0, total - known - reported.length)
    known += reported.length + unreported
    const end = event.truncated === true ? 'context' : why === 'limit' ? 'length' : 'stop'
    return {
      tokens: reported,
      unreported,
      text: content,
      ...(stop === true ? { end } : {}),
      ...(event.timings?.cache_n === undefined ? {} : { reused: event.timings.cache_n }),
    }
  }
}
