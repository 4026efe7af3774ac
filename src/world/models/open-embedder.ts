import { ModelError } from '../../base/errors/index.ts'
import { checkedBaseUrl } from './base-url.ts'
import type { Embedder, Endpoint } from './contract.ts'
import { providerOf } from './provider.ts'
import { createRequestRunner } from './retry.ts'

export interface EmbedderOptions extends Endpoint {
  /** Texts per request. */
  batch?: number
  /** Longer texts are truncated: most embedding models accept only a few hundred tokens. */
  maxCharacters?: number
}

/**
 * An embedding model behind any OpenAI-compatible endpoint.
 *
 * @example
 * import { buildCorpus, openEmbedder } from 'chain-of-agents'
 *
 * const embedder = openEmbedder({ baseUrl: 'http://localhost:8000/v1', model: 'embeddings' })
 * await buildCorpus('corpus.db', ['docs'], { embedder })
 */
export function openEmbedder(options: EmbedderOptions): Embedder {
  const { model, apiKey, batch = 64, maxCharacters = 2000 } = options
  const baseUrl = checkedBaseUrl(options.baseUrl)
  const provider = providerOf({ ...options, baseUrl })
  const run = createRequestRunner({ model, baseUrl, hasKey: apiKey !== undefined }, options)

  const embedBatch = (texts: string[], signal?: AbortSignal): Promise<Float32Array[]> =>
    run(async (limit) => {
      const { embedMany } = await import('ai')
      const { embeddings } = await embedMany({
        model: (await provider()).embeddingModel(model),
        values: texts,
        maxRetries: 0,
        abortSignal: limit,
      })
      if (embeddings.length !== texts.length || embeddings.some((vector) => vector.length === 0)) {
        throw new ModelError(`${model} returned ${embeddings.length} vectors for ${texts.length} texts`, {
          fix: 'Check that the model is an embedding model.',
        })
      }
      return embeddings.map((vector) => Float32Array.from(vector))
    }, signal)

  return {
    name: model,
    async embed(texts, signal) {
      const cut = texts.map((text) => cutText(text, maxCharacters))
      const batches: string[][] = []
      for (let from = 0; from < cut.length; from += batch) batches.push(cut.slice(from, from + batch))
      const rest = new AbortController()
      const either = signal === undefined ? rest.signal : AbortSignal.any([signal, rest.signal])
      try {
        return (await Promise.all(batches.map((texts) => embedBatch(texts, either)))).flat()
      } finally {
        // After a failure the other batches are no longer needed.
        rest.abort()
      }
    },
  }
}

/** Never splits a surrogate pair; an empty text, which servers reject, becomes a space. */
function cutText(text: string, limit: number): string {
  const cut = text.length <= limit ? text : text.slice(0, limit).replace(/[\ud800-\udbff]$/, '')
  return cut.trim() === '' ? ' ' : cut
}
