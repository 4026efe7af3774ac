import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { EngineError, listed } from './engine-error.ts'
import { readJsonFile } from './read-bytes.ts'
import type { TensorEntry } from './safetensors-header.ts'
import { type ReadOptions, readHeader, readTensors } from './safetensors-read.ts'
import type { StoredTensors } from './stored-tensor.ts'

export const WEIGHTS_FILE = 'model.safetensors'
export const INDEX_FILE = 'model.safetensors.index.json'

/** The safetensors files of a model folder and their tensors, from validated headers. */
export interface WeightFiles {
  folder: string
  files: Map<string, Map<string, TensorEntry>>
}

/** Finds model.safetensors or, if there is none, the shards listed in model.safetensors.index.json. */
export function findWeightFiles(folder: string): WeightFiles {
  if (existsSync(join(folder, WEIGHTS_FILE))) {
    return { folder, files: new Map([[WEIGHTS_FILE, readHeader(join(folder, WEIGHTS_FILE)).tensors]]) }
  }
  if (existsSync(join(folder, INDEX_FILE))) return { folder, files: readShards(folder) }
  const pickled = existsSync(join(folder, 'pytorch_model.bin'))
  throw new EngineError(`${folder} has no ${WEIGHTS_FILE}`, {
    fix: pickled
      ? 'It has only pytorch_model.bin: convert it once with `save_pretrained(folder, safe_serialization=True)`.'
      : 'Pass a model folder in the Hugging Face layout.',
    details: { folder },
  })
}

/** All tensors of the model, from all its files. */
export function readWeights(weightFiles: WeightFiles, options: ReadOptions = {}): StoredTensors {
  const weights: StoredTensors = new Map()
  for (const file of weightFiles.files.keys()) {
    const { tensors } = readTensors(join(weightFiles.folder, file), options)
    for (const [name, tensor] of tensors) weights.set(name, tensor)
  }
  return weights
}

const Index = z.object({ weight_map: z.record(z.string(), z.string()) })

function readShards(folder: string): Map<string, Map<string, TensorEntry>> {
  const path = join(folder, INDEX_FILE)
  const index = Index.safeParse(readJsonFile(path))
  if (!index.success) throw damaged(path, ['it has no "weight_map" from tensors to files'])
  const fileOfTensor = new Map(Object.entries(index.data.weight_map))
  const names = [...new Set(fileOfTensor.values())].sort()
  // Plain file names only: a path could lead out of the folder.
  const escaping = names.filter((name) => !isPlainName(name) || !name.endsWith('.safetensors'))
  if (escaping.length > 0) throw damaged(path, [`not a shard of this folder: ${listed(escaping)}`])
  const missing = names.filter((name) => !existsSync(join(folder, name)))
  if (missing.length > 0) throw damaged(path, [`shards are missing: ${listed(missing)}`])
  const files = new Map(names.map((name) => [name, readHeader(join(folder, name)).tensors]))
  const problems = compareWithIndex(fileOfTensor, files)
  if (problems.length > 0) throw damaged(path, problems)
  return files
}

function compareWithIndex(
  fileOfTensor: ReadonlyMap<string, string>,
  files: ReadonlyMap<string, ReadonlyMap<string, TensorEntry>>,
): string[] {
  const absent = [...fileOfTensor].filter(([tensor, file]) => !files.get(file)?.has(tensor))
  const problems = absent.map(([tensor, file]) => `${tensor} is not in ${file}`)
  for (const [file, tensors] of files) {
    for (const tensor of tensors.keys()) {
      if (fileOfTensor.get(tensor) !== file)
        problems.push(`${file} contains ${tensor}, which the index does not list there`)
    }
  }
  return problems
}

/** True for the name of a file directly inside a folder. */
export function isPlainName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name)
}

function damaged(path: string, problems: string[]): EngineError {
  return new EngineError(`${path} does not match its shards: ${listed(problems)}`, {
    fix: 'Download the whole model folder again.',
    details: { path, problems: problems.slice(0, 100) },
  })
}
