import type { CompletionRequest, Dialect, LogprobKind, ResponsePart } from './dialect.ts'

interface Event {
  choices?: {
    text?: string
    token_ids?: number[] | null
    logprobs?: { tokens: string[]; token_logprobs: (number | null)[] } | null
    finish_reason?: string | null
  }[]
  usage?: { prompt_tokens_details?: { cached_tokens?: number } | null } | null
}

/** vLLM, through its OpenAI API with token-id prompts and vLLM's extra fields. */
export function vllm(model: string, logprobs: LogprobKind | undefined): Dialect {
  return {
    server: 'vLLM',
    tokens: true,
    logprobs,
    allowed: true,
    path: '/v1/completions',
    body: (request) => vllmBody(model, request),
    reader: () => read,
  }
}

function vllmBody(model: string, request: CompletionRequest): Record<string, unknown> {
  const { allowed, seed } = request
  return {
    model,
    prompt: request.ids,
    max_tokens: request.maxTokens,
    temperature: request.temperature,
    top_p: request.topP,
    top_k: request.topK ?? -1,
    // The defaults would come from the model's generation_config.json.
    min_p: 0,
    repetition_penalty: 1,
    ...(seed === undefined ? {} : { seed }),
    stop_token_ids: request.stopTokens,
    // The end token stops only if it is among the requested stop tokens.
    ignore_eos: true,
    skip_special_tokens: false,
    logprobs: 1,
    return_token_ids: true,
    // The equivalent in older versions.
    return_tokens_as_token_ids: true,
    ...(allowed === undefined ? {} : { allowed_token_ids: idsOf(allowed) }),
    stream: true,
    stream_options: { include_usage: true },
  }
}

function idsOf(mask: Uint8Array): number[] {
  const ids: number[] = []
  for (let id = 0; id < mask.length; id++) if (mask[id] !== 0) ids.push(id)
  return ids
}

function read({ choices = [], usage }: Event): ResponsePart {
  const [choice] = choices
  const reused = usage?.prompt_tokens_details?.cached_tokens
  const found = choice?.logprobs
  const ids = choice?.token_ids ?? found?.tokens.map((token) => Number(token.replace('token_id:', ''))) ?? []
  return {
    tokens: ids.map((id, index) => ({ id, logprob: found?.token_logprobs[index] ?? Number.NaN })),
    unreported: 0,
    text: choice?.text ?? '',
    ...(choice?.finish_reason == null ? {} : { end: choice.finish_reason === 'length' ? 'length' : 'stop' }),
    ...(reused === undefined ? {} : { reused }),
  }
}
