import type { ModelShape } from '../checkpoint/index.ts'
import { tensorTypeByName, type WritableType } from './tensor-types.ts'

/** What a file is written as. Q4_K_M mixes types: most matrices Q4_K, the most sensitive ones Q6_K. */
export type GgufFileType = 'F32' | 'F16' | 'BF16' | 'Q8_0' | 'Q4_K_M'

/** llama.cpp's ids for them. */
export const fileTypeIds: Record<GgufFileType, number> = { F32: 0, F16: 1, Q8_0: 7, Q4_K_M: 15, BF16: 32 }

/** The fallback for a type whose block size does not divide the row length, as in llama.cpp. */
const narrower: Partial<Record<WritableType, WritableType>> = {
  Q4_K: 'Q5_0',
  Q6_K: 'Q8_0',
  Q5_0: 'F16',
  Q8_0: 'F16',
}

/** A parameter, by its name in the GGUF file. */
export interface NamedTensor {
  name: string
  kind: string
  shape: readonly number[]
}

/** The type that a file of this kind should have for a parameter, and the one that its rows allow. */
export function tensorTypeIn(
  fileType: GgufFileType,
  { name, kind, shape }: NamedTensor,
  model: Pick<ModelShape, 'layers' | 'tiedHead'>,
): { wanted: WritableType; type: WritableType } {
  // llama.cpp requires norms and biases in float32.
  const wanted = kind !== 'matrix' ? 'F32' : fileType === 'Q4_K_M' ? mixed(name, model) : fileType
  let type: WritableType = wanted
  while (shape.at(-1)! % tensorTypeByName(type).valuesInBlock !== 0) type = narrower[type]!
  return { wanted, type }
}

/** Q6_K for what produces the logits, and for the values and the last matrix of the feed-forward part in half of the layers. */
function mixed(name: string, { layers, tiedHead }: Pick<ModelShape, 'layers' | 'tiedHead'>): WritableType {
  if (name === 'output.weight' || (tiedHead && name === 'token_embd.weight')) return 'Q6_K'
  const [, layer, part] = /^blk\.(\d+)\.(\w+)\.weight$/.exec(name) ?? []
  return (part === 'attn_v' || part === 'ffn_down') && isSensitive(Number(layer), layers) ? 'Q6_K' : 'Q4_K'
}

/** The first and last eighth of the layers, and every third in between. */
function isSensitive(layer: number, layers: number): boolean {
  const eighth = Math.floor(layers / 8)
  return layer < eighth || layer >= Math.floor((7 * layers) / 8) || (layer - eighth) % 3 === 2
}
