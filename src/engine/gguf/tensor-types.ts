/** Tensors are stored in blocks of values with common scales; plain numbers are blocks of one. */
export interface TensorType {
  name: string
  /** Its id in the file. */
  id: number
  valuesInBlock: number
  bytesInBlock: number
}

/** Readable types. */
const types: TensorType[] = [
  { name: 'F32', id: 0, valuesInBlock: 1, bytesInBlock: 4 },
  { name: 'F16', id: 1, valuesInBlock: 1, bytesInBlock: 2 },
  { name: 'BF16', id: 30, valuesInBlock: 1, bytesInBlock: 2 },
  { name: 'Q8_0', id: 8, valuesInBlock: 32, bytesInBlock: 34 },
  { name: 'Q4_0', id: 2, valuesInBlock: 32, bytesInBlock: 18 },
  { name: 'Q4_1', id: 3, valuesInBlock: 32, bytesInBlock: 20 },
  { name: 'Q5_0', id: 6, valuesInBlock: 32, bytesInBlock: 22 },
  { name: 'Q5_1', id: 7, valuesInBlock: 32, bytesInBlock: 24 },
  { name: 'Q4_K', id: 12, valuesInBlock: 256, bytesInBlock: 144 },
  { name: 'Q5_K', id: 13, valuesInBlock: 256, bytesInBlock: 176 },
  { name: 'Q6_K', id: 14, valuesInBlock: 256, bytesInBlock: 210 },
]

/** Unsupported types, for error messages. */
const otherNames: ReadonlyMap<number, string> = new Map([
  [9, 'Q8_1'],
  [10, 'Q2_K'],
  [11, 'Q3_K'],
  [15, 'Q8_K'],
  [16, 'IQ2_XXS'],
  [17, 'IQ2_XS'],
  [18, 'IQ3_XXS'],
  [19, 'IQ1_S'],
  [20, 'IQ4_NL'],
  [21, 'IQ3_S'],
  [22, 'IQ2_S'],
  [23, 'IQ4_XS'],
  [24, 'I8'],
  [25, 'I16'],
  [26, 'I32'],
  [27, 'I64'],
  [28, 'F64'],
  [29, 'IQ1_M'],
  [34, 'TQ1_0'],
  [35, 'TQ2_0'],
  [39, 'MXFP4'],
  [40, 'NVFP4'],
])

const byId = new Map(types.map((type) => [type.id, type]))
const byName = new Map(types.map((type) => [type.name, type]))

export const readableTypes: readonly string[] = types.map(({ name }) => name)

export type WritableType = 'F32' | 'F16' | 'BF16' | 'Q8_0' | 'Q5_0' | 'Q4_K' | 'Q6_K'

export function tensorTypeById(id: number): TensorType | undefined {
  return byId.get(id)
}

export function tensorTypeByName(name: string): TensorType {
  return byName.get(name)!
}

export function bitsPerValue(name: string): number {
  const { bytesInBlock, valuesInBlock } = tensorTypeByName(name)
  return (8 * bytesInBlock) / valuesInBlock
}

export function nameOfTensorType(id: number): string {
  return byId.get(id)?.name ?? otherNames.get(id) ?? `number ${id}`
}
