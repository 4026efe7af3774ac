import type { Dialect, LogprobKind, Piece, Question } from './dialect.ts'

interface Event {
  choices?: {
    text?: string
    token_ids?: number[] | null
    logprobs?: { tokens: string[]; token_logprobs: (number | null)[] } | null
    finish_reason?: string | null
  }[]
  usage?: { prompt_tokens_details?: { cached_tokens?: number } | null } | null
}

/** vLLM: its OpenAI API with prompts as ids, and the fields it adds to it. */
export function vllm(model: string, logprobs: LogprobKind | undefined): Dialect {
  return {
    server: 'vLLM',
    tokens: true,
    logprobs,
    allowed: true,
    path: '/v1/completions',
    body: (question) => vllmBody(model, question),
    reader: () => read,
  }
}

function vllmBody(model: string, question: Question): Record<string, unknown> {
  const { allowed, seed } = question
  return {
    model,
    prompt: question.ids,
    max_tokens: question.maxTokens,
    temperature: question.temperature,
    top_p: question.topP,
    top_k: question.topK ?? -1,
    // Left out, these would be what the model's generation_config.json says.
    min_p: 0,
    repetition_penalty: 1,
    ...(seed === undefined ? {} : { seed }),
    stop_token_ids: question.stopTokens,
    // The end token ends a text where it is among those asked for, and not otherwise.
    ignore_eos: true,
    skip_special_tokens: false,
    logprobs: 1,
    return_token_ids: true,
    // What older versions have instead.
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

function read({ choices = [], usage }: Event): Piece {
  const [choice] = choices
  const reused = usage?.prompt_tokens_details?.cached_tokens
  const found = choice?.logprobs
  const ids = choice?.token_ids ?? found?.tokens.map((token) => Number(token.replace('token_id:', ''))) ?? []
  return {
    tokens: ids.map((id, index) => ({ id, logprob: found?.token_logprobs[index] ?? Number.NaN })),
    untold: 0,
    text: choice?.text ?? '',
    ...(choice?.finish_reason == null ? {} : { end: choice.finish_reason === 'length' ? 'length' : 'stop' }),
    ...(reused === undefined ? {} : { reused }),
  }
}
