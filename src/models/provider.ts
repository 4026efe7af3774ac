import type { OpenAICompatibleProvider } from '@ai-sdk/openai-compatible'
import type { Endpoint } from './contract.ts'

/** The SDK's client of an endpoint, loaded and made at the first request. */
export function providerOf({ baseUrl, apiKey, headers }: Endpoint): () => Promise<OpenAICompatibleProvider> {
  let provider: Promise<OpenAICompatibleProvider> | undefined
  return () => {
    provider ??= import('@ai-sdk/openai-compatible').then(({ createOpenAICompatible }) =>
      createOpenAICompatible({
        name: 'endpoint',
        baseURL: baseUrl,
        supportsStructuredOutputs: true,
        ...(apiKey === undefined ? {} : { apiKey }),
        ...(headers === undefined ? {} : { headers }),
      }),
    )
    return provider
  }
}
