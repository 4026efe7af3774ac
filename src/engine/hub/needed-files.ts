import { UsageError } from '../../base/errors/index.ts'
import { EngineError } from '../checkpoint/engine-error.ts'
import { INDEX_FILE, isPlainName, WEIGHTS_FILE } from '../checkpoint/shards-read.ts'
import { tokenizerFileNames } from '../checkpoint/tokenizer-files.ts'
import type { HubFile, Repository } from './repository.ts'

/** Everything small: what describes the model, and its tokenizer. It is downloaded first. */
export function describingFiles({ id, files }: Repository, endpoint: string): HubFile[] {
  const hasWeights = files.has(WEIGHTS_FILE) || files.has(INDEX_FILE)
  const missing = ['config.json', 'tokenizer.json', ...(hasWeights ? [] : [WEIGHTS_FILE])].filter(
    (name) => !files.has(name),
  )
  if (missing.length > 0) {
    const gguf = [...files.values()].filter(({ name }) => /^[^/]+\.gguf$/i.test(name))
    throw new UsageError(`${id} is not a model in the Hugging Face layout: it has no ${missing.join(', ')}`, {
      fix:
        gguf.length > 0
          ? `It has GGUF files: pull one of them, for example ${gguf[0]!.url.replace(/\/resolve\/[^/]+\//, '/resolve/main/')}`
          : `Look at ${endpoint}/${id}/tree/main for another repository of the same model.`,
      details: { missing },
    })
  }
  const wanted = ['config.json', 'generation_config.json', INDEX_FILE, ...tokenizerFileNames]
  // If there are both, the single file is what is read.
  return wanted
    .filter((name) => name !== INDEX_FILE || !files.has(WEIGHTS_FILE))
    .flatMap((name) => files.get(name) ?? [])
}

/** The weights: one file, or the shards that the index names. */
export function weightFiles({ id, files }: Repository, index: unknown): HubFile[] {
  if (files.has(WEIGHTS_FILE)) return [files.get(WEIGHTS_FILE)!]
  const map = (index as { weight_map?: Record<string, unknown> } | null)?.weight_map ?? {}
  const names = [...new Set(Object.values(map))].sort()
  return names.map((name) => {
    const file = typeof name === 'string' && isPlainName(name) ? files.get(name) : undefined
    if (file !== undefined) return file
    throw new EngineError(`${id} has no file ${JSON.stringify(name)}, although ${INDEX_FILE} names it`, {
      fix: 'Choose another revision.',
    })
  })
}
