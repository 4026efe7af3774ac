import {
  type CompletionRequest,
  type Dialect,
  type LogprobKind,
  type ResponsePart,
  unexpected,
} from './dialect.ts'

interface Event {
  text?: string | null
  meta_info?: {
    completion_tokens?: number
    cached_tokens?: number
    output_token_logprobs?: [number | null, number, unknown?][]
    finish_reason?: { type: string } | null
  }
}

/** SGLang, through its own /generate, because its OpenAI API returns no token ids. */
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

function sglangBody(request: CompletionRequest): Record<string, unknown> {
  const { seed } = request
  return {
    input_ids: request.ids,
    sampling_params: {
      max_new_tokens: request.maxTokens,
      temperature: request.temperature,
      top_p: request.topP,
      top_k: request.topK ?? -1,
      min_p: 0,
      repetition_penalty: 1,
      ...(seed === undefined ? {} : { sampling_seed: seed }),
      stop_token_ids: request.stopTokens,
      skip_special_tokens: false,
      no_stop_trim: true,
    },
    return_logprob: true,
    top_logprobs_num: 1,
    stream: true,
  }
}

/** Depending on the server's settings, events are cumulative or incremental. */
function reader(): (event: Event) => ResponsePart {
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
      unreported: 0,
      text: '',
      ...(finish == null ? {} : { end: finish.type === 'length' ? 'length' : 'stop' }),
      ...(meta.cached_tokens === undefined ? {} : { reused: meta.cached_tokens }),
    }
  }
}
