import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readManifest } from './checkpoint-manifest.ts'
import { EngineError } from './engine-error.ts'
import { addLowRank } from './low-rank.ts'
import { ADAPTER_CONFIG, type Adapter, readPeftConfig } from './peft-adapter.ts'
import { currentFolder } from './replace-folder.ts'
import { INDEX_FILE, WEIGHTS_FILE } from './shards-read.ts'
import type { StoredTensors } from './stored-tensor.ts'

/** A checkpoint with only a LoRA adapter; `base` has the model it belongs to. */
export interface AdapterCheckpoint {
  folder: string
  base: string
  rank: number
  alpha: number
}

/** Metadata key: fingerprint of the base the adapter was trained on. */
export const BASE_FINGERPRINT = 'baseFingerprint'

/** True for the folder of a full model or of an adapter. */
export function isModelFolder(path: string): boolean {
  const folder = currentFolder(resolve(path))
  return ['config.json', ADAPTER_CONFIG].some((name) => existsSync(join(folder, name)))
}

/** The adapter in a folder; undefined for a full model. */
export function adapterOf(path: string): AdapterCheckpoint | undefined {
  const folder = currentFolder(resolve(path))
  if (!existsSync(join(folder, ADAPTER_CONFIG))) return undefined
  if ([WEIGHTS_FILE, INDEX_FILE].some((name) => existsSync(join(folder, name)))) return undefined
  const { r: rank, lora_alpha: alpha, base_model_name_or_path: named } = readPeftConfig(folder)
  const base = named === undefined || named === null ? undefined : currentFolder(resolve(named))
  if (base === undefined || !existsSync(join(base, 'config.json'))) {
    throw new EngineError(`${folder} is an adapter of ${named ?? 'an unnamed model'}, which was not found`, {
      fix: `Put the base model there, or merge the adapter with it: \`coa model merge-lora BASE ${folder} OUT\`.`,
      details: { folder },
    })
  }
  checkBase(folder, base)
  return { folder, base, rank, alpha }
}

/** With a base that has been trained further, the adapter would silently give a different model. */
function checkBase(folder: string, base: string): void {
  const expected = readManifest(folder)?.metadata[BASE_FINGERPRINT]
  const found = readManifest(base)?.fingerprint
  if (expected === undefined || found === undefined || expected === found) return
  throw new EngineError(`${folder} is an adapter of ${base}, which has changed since`, {
    fix: 'Restore the base model, or train the adapter again.',
    details: { folder, base },
  })
}

/** Merges adapters into the weights of `base`, in place. */
export function addAdapters(
  weights: StoredTensors,
  adapters: ReadonlyMap<string, Adapter>,
  base: string,
): void {
  for (const [projection, { scale, down, up }] of adapters) {
    const weight = weights.get(`${projection}.weight`)
    const [to, from] = [up.shape[0], down.shape[1]]
    if (weight === undefined || String(weight.shape) !== String([to, from])) {
      throw new EngineError(
        weight === undefined
          ? `the adapter modifies ${projection}, which ${base} does not have`
          : `the adapter modifies ${projection} of shape [${to},${from}], but in ${base} it is [${weight.shape}]`,
        { fix: 'Pass the model that the adapter was trained on.' },
      )
    }
    addLowRank(weight, down, up, scale)
  }
}
