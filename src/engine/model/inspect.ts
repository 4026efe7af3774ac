import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openTokenizer, type TokenizerDescription } from '../../language/tokens/index.ts'
import {
  type AdapterCheckpoint,
  type CheckpointManifest,
  type ModelShape,
  OPTIMIZER_FILE,
  parameterCount,
  readCheckpointHeaders,
  readHeader,
} from '../checkpoint/index.ts'

export interface ModelReport {
  folder: string
  shape: ModelShape
  parameters: number
  /** Number of parameters per stored type, such as { BF16: 134515008 }. */
  elementTypes: Record<string, number>
  weightFiles: string[]
  /** Bytes of the weights only. */
  weightBytes: number
  /** All files of the folder; checksums are from the manifest and not verified here. */
  files: { name: string; bytes: number; sha256?: string }[]
  /** Undefined if the folder has no tokenizer.json. */
  tokenizer: TokenizerDescription | undefined
  /** Optimizer state for resuming training; undefined if none was saved. */
  optimizer: { step: number | undefined; bytes: number } | undefined
  /** Set if the folder contains only an adapter; shape and weights are then those of its base. */
  adapter: AdapterCheckpoint | undefined
  manifest: CheckpointManifest | undefined
}

/**
 * Describes a model folder from its headers, which is fast however large the model is.
 *
 * @example
 * import { inspectModel } from 'chain-of-agents/engine'
 *
 * const { parameters, shape, tokenizer } = await inspectModel('models/mine')
 * console.log(parameters, shape.contextLength, tokenizer)
 */
export async function inspectModel(path: string): Promise<ModelReport> {
  const { folder, shape, weightFiles, adapter, manifest, files } = readCheckpointHeaders(path)
  const elementTypes: Record<string, number> = {}
  let weightBytes = 0
  for (const tensors of weightFiles.files.values()) {
    for (const { type, shape: sizes, start, end } of tensors.values()) {
      elementTypes[type] = (elementTypes[type] ?? 0) + sizes.reduce((product, size) => product * size, 1)
      weightBytes += end - start
    }
  }
  const hashes = new Map(manifest?.files.map((file) => [file.path, file.sha256]))
  return {
    folder,
    shape,
    parameters: parameterCount(shape),
    elementTypes,
    weightFiles: [...weightFiles.files.keys()],
    weightBytes,
    files: files.map((name) => {
      const sha256 = hashes.get(name)
      return {
        name,
        bytes: statSync(join(folder, name)).size,
        ...(sha256 === undefined ? {} : { sha256 }),
      }
    }),
    tokenizer: existsSync(join(folder, 'tokenizer.json'))
      ? (await openTokenizer(folder)).describe()
      : undefined,
    optimizer: optimizerOf(folder),
    adapter,
    manifest,
  }
}

function optimizerOf(folder: string): ModelReport['optimizer'] {
  const path = join(folder, OPTIMIZER_FILE)
  if (!existsSync(path)) return undefined
  const step = readHeader(path).metadata['step']
  return { step: step === undefined ? undefined : Number(step), bytes: statSync(path).size }
}
