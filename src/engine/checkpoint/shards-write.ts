import { join } from 'node:path'
import { writeFileAtomic } from '../../base/files/index.ts'
import { bytesOfElement, type ElementType, elementCount } from './element-types.ts'
import { writeTensors } from './safetensors-write.ts'
import { INDEX_FILE, WEIGHTS_FILE } from './shards-read.ts'
import type { StoredTensor, StreamedTensor, TensorsToSave } from './stored-tensor.ts'

export interface ShardOptions {
  elementType?: ElementType
  /** Maximum bytes of weights per file; a larger tensor gets a file of its own. */
  maxShardBytes?: number
  /** Write the index even for a single file. */
  alwaysIndex?: boolean
}

/** The default of transformers. */
const DEFAULT_SHARD_BYTES = 5_000_000_000

/** Writes model.safetensors, or shards with an index if that would be too large. Returns the file names. */
export function writeWeights(folder: string, weights: TensorsToSave, options: ShardOptions = {}): string[] {
  const type = options.elementType ?? 'F32'
  const shards = splitIntoShards(weights, type, options.maxShardBytes ?? DEFAULT_SHARD_BYTES)
  const fileOfTensor = new Map<string, string>()
  const files = shards.map((shard, position) => {
    const file = shards.length === 1 ? WEIGHTS_FILE : shardName(position + 1, shards.length)
    for (const tensor of shard.keys()) fileOfTensor.set(tensor, file)
    writeTensors(join(folder, file), shard, { elementType: type })
    return file
  })
  if (shards.length === 1 && !options.alwaysIndex) return files
  const bytes =
    [...weights.values()].reduce((sum, { shape }) => sum + elementCount(shape), 0) * bytesOfElement[type]
  writeFileAtomic(
    join(folder, INDEX_FILE),
    json({ metadata: { total_size: bytes }, weight_map: Object.fromEntries([...fileOfTensor].sort()) }),
  )
  return [...files, INDEX_FILE]
}

function splitIntoShards(weights: TensorsToSave, type: ElementType, maxBytes: number): TensorsToSave[] {
  const shards: Map<string, StoredTensor | StreamedTensor>[] = [new Map()]
  let bytes = 0
  for (const [name, tensor] of weights) {
    const more = elementCount(tensor.shape) * bytesOfElement[type]
    if (bytes > 0 && bytes + more > maxBytes) {
      shards.push(new Map())
      bytes = 0
    }
    shards.at(-1)!.set(name, tensor)
    bytes += more
  }
  return shards
}

function shardName(position: number, count: number): string {
  const digits = (number: number) => String(number).padStart(5, '0')
  return `model-${digits(position)}-of-${digits(count)}.safetensors`
}

export function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}
