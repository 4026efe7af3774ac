import { EngineError } from '../checkpoint/engine-error.ts'

/** The types a value of the metadata can have, in the order of their numbers in the file. */
export const valueTypes = [
  'uint8',
  'int8',
  'uint16',
  'int16',
  'uint32',
  'int32',
  'float32',
  'bool',
  'string',
  'array',
  'uint64',
  'int64',
  'float64',
] as const
export type ValueType = (typeof valueTypes)[number]

type Small = 'uint8' | 'int8' | 'uint16' | 'int16' | 'uint32' | 'int32' | 'float32' | 'float64'

/** A value with its type, so that what is read can be written again as it was. */
export type GgufValue =
  | { type: Small; value: number }
  | { type: 'uint64' | 'int64'; value: bigint }
  | { type: 'bool'; value: boolean }
  | { type: 'string'; value: string }
  | GgufArray

type GgufArray =
  | { type: 'array'; of: Small; value: readonly number[] }
  | { type: 'array'; of: 'uint64' | 'int64'; value: readonly bigint[] }
  | { type: 'array'; of: 'bool'; value: readonly boolean[] }
  | { type: 'array'; of: 'string'; value: readonly string[] }

export type Metadata = Map<string, GgufValue>

/** The fewest bytes a value of a type takes. */
export const leastBytes: Record<Exclude<ValueType, 'array'>, number> = {
  uint8: 1,
  int8: 1,
  uint16: 2,
  int16: 2,
  uint32: 4,
  int32: 4,
  float32: 4,
  bool: 1,
  string: 8,
  uint64: 8,
  int64: 8,
  float64: 8,
}

/** Reads metadata by key, and says in one sentence what is missing or of another type. */
export class MetadataView {
  readonly #values: Metadata

  constructor(values: Metadata) {
    this.#values = values
  }

  number(key: string): number
  number<T>(key: string, otherwise: T): number | T
  number<T>(key: string, ...otherwise: [T?]): number | T {
    const found = this.#values.get(key)
    if (found === undefined && otherwise.length > 0) return otherwise[0] as T
    if (typeof found?.value === 'number') return found.value
    if (typeof found?.value === 'bigint') return Number(found.value)
    throw wrong(key, 'a number', found)
  }

  text(key: string): string
  text<T>(key: string, otherwise: T): string | T
  text<T>(key: string, ...otherwise: [T?]): string | T {
    const found = this.#values.get(key)
    if (found === undefined && otherwise.length > 0) return otherwise[0] as T
    if (typeof found?.value === 'string') return found.value
    throw wrong(key, 'a text', found)
  }

  flag<T>(key: string, otherwise: T): boolean | T {
    const found = this.#values.get(key)
    if (found === undefined) return otherwise
    if (typeof found.value === 'boolean') return found.value
    throw wrong(key, 'true or false', found)
  }

  texts(key: string): readonly string[] {
    const found = this.#values.get(key)
    if (found?.type === 'array' && found.of === 'string') return found.value
    throw wrong(key, 'a list of texts', found)
  }

  numbers<T>(key: string, otherwise: T): readonly number[] | T {
    const found = this.#values.get(key)
    if (found === undefined) return otherwise
    if (found.type === 'array' && found.value.every((value) => typeof value === 'number')) {
      return found.value as readonly number[]
    }
    throw wrong(key, 'a list of numbers', found)
  }
}

function wrong(key: string, wanted: string, found: GgufValue | undefined): EngineError {
  return new EngineError(
    found === undefined
      ? `the file does not say ${key}`
      : `${key} is ${found.type === 'array' ? `a list of ${found.of}` : found.type}, and should be ${wanted}`,
    { fix: 'Use a GGUF file of one whole language model, as the converter of llama.cpp writes it.' },
  )
}
