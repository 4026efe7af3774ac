import type { CompletionRequest, Dialect, ResponsePart } from './dialect.ts'

const textOnly = { tokens: false, logprobs: undefined, allowed: false } as const

/** Ollama, through its own /api/generate, because its OpenAI API applies a chat template to every prompt. */
export function ollama(model: string, contextLength: number): Dialect {
  return {
    ...textOnly,
    server: 'Ollama',
    path: '/api/generate',
    body: ({ text, maxTokens, temperature, topP, topK, seed }: CompletionRequest) => ({
      model,
      prompt: text,
      raw: true,
      stream: true,
      options: {
        num_predict: maxTokens,
        num_ctx: contextLength,
        temperature,
        top_p: topP,
        top_k: topK ?? 0,
        min_p: 0,
        repeat_penalty: 1,
        ...(seed === undefined ? {} : { seed }),
      },
    }),
    reader: () => (event: { response?: string; done?: boolean; done_reason?: string }) =>
      textPart(event.response, event.done === true ? (event.done_reason ?? 'stop') : undefined),
  }
}

/** Any other server with /v1/completions. */
export function plainOpenAI(model: string): Dialect {
  return {
    ...textOnly,
    server: 'The server',
    path: '/v1/completions',
    body: ({ text, maxTokens, temperature, topP, seed }: CompletionRequest) => ({
      model,
      prompt: text,
      max_tokens: maxTokens,
      temperature,
      top_p: topP,
      ...(seed === undefined ? {} : { seed }),
      stream: true,
    }),
    reader: () => (event: { choices?: { text?: string; finish_reason?: string | null }[] }) =>
      textPart(event.choices?.[0]?.text, event.choices?.[0]?.finish_reason ?? undefined),
  }
}

function textPart(text: string | undefined, finish: string | undefined): ResponsePart {
  return {
    tokens: [],
    unreported: 0,
    text: text ?? '',
    ...(finish === undefined ? {} : { end: finish === 'length' ? 'length' : 'stop' }),
  }
}
