import { type Dialect, type LogprobKind, type Piece, type Question, unexpected } from './dialect.ts'

interface Event {
  text?: string | null
  meta_info?: {
    completion_tokens?: number
    cached_tokens?: number
    output_token_logprobs?: [number | null, number, unknown?][]
    finish_reason?: { type: string } | null
  }
}

/** SGLang: its own /generate, because its OpenAI API gives no token ids. */
export function sglang(logprobs: LogprobKind | undefined): Dialect {
  return {
    server: 'SGLang',
    tokens: true,
    logprobs,
    allowed: false,
    path: '/generate',
    body: sglangBody,
    reader,
  }
}

function sglangBody(question: Question): Record<string, unknown> {
  const { seed } = question
  return {
    input_ids: question.ids,
    sampling_params: {
      max_new_tokens: question.maxTokens,
      temperature: question.temperature,
      top_p: question.topP,
      top_k: question.topK ?? -1,
      min_p: 0,
      repetition_penalty: 1,
      ...(seed === undefined ? {} : { sampling_seed: seed }),
      stop_token_ids: question.stopTokens,
      skip_special_tokens: false,
      no_stop_trim: true,
    },
    return_logprob: true,
    top_logprobs_num: 1,
    stream: true,
  }
}

/** Each event repeats what came before, or has only what is new, as the server was started. */
function reader(): (event: Event) => Piece {
  let known = 0
  return ({ meta_info: meta }) => {
    const list = meta?.output_token_logprobs
    if (meta === undefined || list === undefined) throw unexpected('SGLang', 'log-probabilities')
    const total = meta.completion_tokens ?? known + list.length
    const fresh = list.slice(list.length >= total ? known : 0)
    known = Math.max(known + fresh.length, 0)
    const finish = meta.finish_reason
    return {
      tokens: fresh.map(([logprob, id]) => ({ id, logprob: logprob ?? Number.NaN })),
      untold: 0,
      text: '',
      ...(finish == null ? {} : { end: finish.type === 'length' ? 'length' : 'stop' }),
      ...(meta.cached_tokens === undefined ? {} : { reused: meta.cached_tokens }),
    }
  }
}
