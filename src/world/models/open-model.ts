import { checkedBaseUrl } from './base-url.ts'
import type { ChatModel, Endpoint } from './contract.ts'
import { lazyModel } from './model-from.ts'
import { providerOf } from './provider.ts'

/**
 * A chat model behind any OpenAI-compatible endpoint: a hosted service, vLLM, SGLang, llama.cpp, Ollama.
 *
 * @example
 * import { openModel } from 'chain-of-agents'
 *
 * const model = openModel({ baseUrl: 'http://localhost:8000/v1', model: 'my-model' })
 * const { text, usage } = await model.complete({ prompt: 'What is the capital of Peru?' })
 * console.log(text, usage)
 */
export function openModel(endpoint: Endpoint): ChatModel {
  const { model, apiKey, timeoutMs, retries, concurrency } = endpoint
  const baseUrl = checkedBaseUrl(endpoint.baseUrl)
  const provider = providerOf({ ...endpoint, baseUrl })
  return lazyModel(model, async () => (await provider()).chatModel(model), {
    baseUrl,
    hasKey: apiKey !== undefined,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(retries === undefined ? {} : { retries }),
    ...(concurrency === undefined ? {} : { concurrency }),
  })
}
