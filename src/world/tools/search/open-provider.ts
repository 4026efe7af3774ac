import { existsSync } from 'node:fs'
import { ConfigError, UsageError } from '../../../base/errors/index.ts'
import { TextIndex, VectorIndex } from '../../../store/index.ts'
import { embedderFromSettings } from '../../models/index.ts'
import type { WorldConfig } from '../../settings.ts'
import { vectorFileOf } from '../corpus/build-corpus.ts'
import { liveProvider, liveProviderNames, liveProviderState } from './live-providers.ts'
import { localProvider } from './local-provider.ts'
import type { SearchProvider } from './provider.ts'

type Settings = Pick<WorldConfig, 'search' | 'embedding'>
type Environment = Record<string, string | undefined>

export interface OpenProvider {
  provider: SearchProvider
  /** Where results come from, for display. */
  how: string
  close: () => void
}

/** The configured search provider. */
export function openProvider(settings: Settings, environment: Environment): OpenProvider {
  const { corpus } = settings.search
  const name =
    settings.search.provider === 'auto' ? firstUsable(corpus, environment) : settings.search.provider
  if (name === undefined) {
    throw new ConfigError(
      `no search provider: ${corpus} does not exist and no search service is configured`,
      {
        fix: `Build a corpus with \`coa corpus build\`, or set one of ${liveProviderNames.map((live) => liveProviderState(live, environment).variable).join(', ')}.`,
      },
    )
  }
  if (name === 'corpus') return openCorpus(settings, environment)
  return { provider: liveProvider(name, environment), how: name, close: () => undefined }
}

function firstUsable(corpus: string, environment: Environment): string | undefined {
  if (existsSync(corpus)) return 'corpus'
  return liveProviderNames.find((name) => liveProviderState(name, environment).isSet)
}

/** A corpus on disk, with its vectors if it has them and the settings name the embedding model. */
function openCorpus({ search, embedding }: Settings, environment: Environment): OpenProvider {
  if (!existsSync(search.corpus)) {
    throw new UsageError(`the corpus ${search.corpus} does not exist`, {
      fix: 'Build one with `coa corpus build FILE…`, or choose another with --corpus.',
    })
  }
  const index = new TextIndex(search.corpus, { readOnly: true })
  try {
    const embedder = embedderFromSettings('embedding', embedding, environment)
    const file = vectorFileOf(search.corpus)
    const vectors =
      embedder !== undefined && existsSync(file)
        ? { index: new VectorIndex(file, { model: embedder.name, readOnly: true }), embedder }
        : undefined
    const size = `${search.corpus}, ${index.count().toLocaleString('en')} documents`
    return {
      provider: localProvider(index, vectors === undefined ? {} : { vectors }),
      how: vectors === undefined ? size : `${size}, ${vectors.index.count().toLocaleString('en')} vectors`,
      close: () => {
        vectors?.index.close()
        index.close()
      },
    }
  } catch (error) {
    index.close()
    throw error
  }
}
