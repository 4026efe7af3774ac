/** Bits per element for every type in the safetensors format. */
const elementBits: ReadonlyMap<string, number> = new Map([
  ['BOOL', 8],
  ['F4', 4],
  ['F6_E2M3', 6],
  ['F6_E3M2', 6],
  ['U8', 8],
  ['I8', 8],
  ['F8_E5M2', 8],
  ['F8_E4M3', 8],
  ['F8_E8M0', 8],
  ['F8_E4M3FNUZ', 8],
  ['F8_E5M2FNUZ', 8],
  ['I16', 16],
  ['U16', 16],
  ['F16', 16],
  ['BF16', 16],
  ['I32', 32],
  ['U32', 32],
  ['F32', 32],
  ['C64', 64],
  ['F64', 64],
  ['I64', 64],
  ['U64', 64],
])

/** Types that weights can be written in. */
export type ElementType = 'F32' | 'F16' | 'BF16'

export const bytesOfElement: Record<ElementType, number> = { F32: 4, F16: 2, BF16: 2 }

/** Names used in config.json. */
export const pytorchName: Record<ElementType, string> = { F32: 'float32', F16: 'float16', BF16: 'bfloat16' }

/** The type that config.json names for the weights; F32 if it names none or another one. */
export function elementTypeOf(config: unknown): ElementType {
  const { torch_dtype, dtype = torch_dtype } = (config ?? {}) as Record<string, unknown>
  const types: ElementType[] = ['BF16', 'F16']
  return types.find((type) => pytorchName[type] === dtype) ?? 'F32'
}

export function isElementType(type: string): boolean {
  return elementBits.has(type)
}

export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1)
}

/** Bytes of a tensor; undefined if not an integer or beyond exact arithmetic. */
export function bytesOfTensor(type: string, shape: readonly number[]): number | undefined {
  // A zero dimension makes the tensor empty, however large the others are.
  const elements = shape.includes(0) ? 0 : elementCount(shape)
  const bytes = (elements * (elementBits.get(type) ?? Number.NaN)) / 8
  return Number.isSafeInteger(elements) && Number.isSafeInteger(bytes) ? bytes : undefined
}
