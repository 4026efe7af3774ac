import { checkedBaseUrl } from './base-url.ts'
import type { ChatModel, Endpoint } from './contract.ts'
import { lazyModel } from './model-from.ts'
import { providerOf } from './provider.ts'

/** A model behind any OpenAI-compatible endpoint: a hosted service, vLLM, SGLang, llama.cpp, Ollama. */
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
