import { EngineError } from '../checkpoint/index.ts'
import type { Dialect, Piece, Question } from './dialect.ts'

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
 * llama.cpp's server: its own /completion. Streamed, because a whole answer is lost where a character is cut in two.
 * Its log-probabilities are those of the model as it is.
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
    // Its last word on a text that ends within a character, or that is not UTF-8 from some place on: there it fell silent.
    isEnd: (cause) => cause instanceof EngineError && cause.message.includes('does not match the expected'),
  }
}

function llamaCppBody(question: Question): Record<string, unknown> {
  const { seed, allowed } = question
  return {
    prompt: question.ids,
    n_predict: question.maxTokens,
    temperature: question.temperature,
    top_p: question.topP,
    top_k: question.topK ?? 0,
    // In this order, as the contract has it, and nothing else: the server has more samplers on by default.
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

function reader(): (event: Event) => Piece {
  let known = 0
  return ({ content = '', tokens = [], tokens_predicted: total, stop, stop_type: why, ...event }) => {
    const probabilities = event.completion_probabilities ?? []
    const told = tokens.map((id, index) => {
      const found = probabilities[index]
      return { id, logprob: found?.id === id ? (found.logprob ?? Number.NaN) : Number.NaN }
    })
    const untold = total === undefined ? 0 : Math.max(0, total - known - told.length)
    known += told.length + untold
    const end = event.truncated === true ? 'context' : why === 'limit' ? 'length' : 'stop'
    return {
      tokens: told,
      untold,
      text: content,
      ...(stop === true ? { end } : {}),
      ...(event.timings?.cache_n === undefined ? {} : { reused: event.timings.cache_n }),
    }
  }
}
