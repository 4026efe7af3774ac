import type { OpenAICompatibleProvider } from '@ai-sdk/openai-compatible'
import { registerSecret } from '../../base/errors/index.ts'
import type { Endpoint } from './contract.ts'

/** The SDK's client for an endpoint, loaded and created at the first request. */
export function providerOf({ baseUrl, apiKey, headers }: Endpoint): () => Promise<OpenAICompatibleProvider> {
  registerSecret(apiKey)
  for (const [name, value] of Object.entries(headers ?? {}))
    if (/auth|key|token|cookie|secret/i.test(name)) registerSecret(value)
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
