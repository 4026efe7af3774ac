import { ConfigError } from '../../base/errors/index.ts'
import { keyFrom } from '../../settings/index.ts'
import type { EmbeddingSection, ModelSection } from '../settings.ts'
import type { ChatModel, Embedder, Endpoint } from './contract.ts'
import { openEmbedder } from './open-embedder.ts'
import { openModel } from './open-model.ts'

type Environment = Record<string, string | undefined>

/** The chat model configured in a section of the settings, or undefined if there is none. */
export function modelFromSettings(
  section: string,
  settings: ModelSection,
  environment: Environment,
): ChatModel | undefined {
  const endpoint = endpointOf(section, settings, environment)
  return endpoint === undefined ? undefined : openModel(endpoint)
}

/** The embedding model configured in a section of the settings, or undefined if there is none. */
export function embedderFromSettings(
  section: string,
  settings: EmbeddingSection,
  environment: Environment,
): Embedder | undefined {
  const endpoint = endpointOf(section, settings, environment)
  return endpoint === undefined
    ? undefined
    : openEmbedder({ ...endpoint, maxCharacters: settings.max_characters })
}

function endpointOf(section: string, settings: ModelSection, environment: Environment): Endpoint | undefined {
  const { base_url: baseUrl, model, key_env: variable } = settings
  if (baseUrl === undefined && model === undefined) return undefined
  if (baseUrl === undefined || model === undefined) {
    const missing = baseUrl === undefined ? 'base_url' : 'model'
    throw new ConfigError(`[${section}] has no ${missing}`, {
      fix: `Set ${section}.${missing}, in coa.toml or with --set.`,
    })
  }
  const apiKey = keyFrom(environment, variable)
  return {
    baseUrl,
    model,
    timeoutMs: Math.ceil(settings.timeout_s * 1000),
    retries: settings.retries,
    concurrency: settings.concurrency,
    ...(apiKey === undefined ? {} : { apiKey }),
  }
}
