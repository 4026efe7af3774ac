import { EngineError } from '../checkpoint/engine-error.ts'

/** Metadata value types, indexed by their ids in the file. */
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

type NumberType = 'uint8' | 'int8' | 'uint16' | 'int16' | 'uint32' | 'int32' | 'float32' | 'float64'

/** A value with its type, so that it can be written back unchanged. */
export type GgufValue =
  | { type: NumberType; value: number }
  | { type: 'uint64' | 'int64'; value: bigint }
  | { type: 'bool'; value: boolean }
  | { type: 'string'; value: string }
  | GgufArray

type GgufArray =
  | { type: 'array'; of: NumberType; value: readonly number[] }
  | { type: 'array'; of: 'uint64' | 'int64'; value: readonly bigint[] }
  | { type: 'array'; of: 'bool'; value: readonly boolean[] }
  | { type: 'array'; of: 'string'; value: readonly string[] }

export type Metadata = Map<string, GgufValue>

/** Minimum size of a value in bytes. */
export const minBytes: Record<Exclude<ValueType, 'array'>, number> = {
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

/** Typed access to metadata, with errors for missing or mistyped keys. */
export class MetadataView {
  readonly #values: Metadata

  constructor(values: Metadata) {
    this.#values = values
  }

  number(key: string): number
  number<T>(key: string, fallback: T): number | T
  number<T>(key: string, ...fallback: [T?]): number | T {
    const found = this.#values.get(key)
    if (found === undefined && fallback.length > 0) return fallback[0] as T
    if (typeof found?.value === 'number') return found.value
    if (typeof found?.value === 'bigint') return Number(found.value)
    throw wrong(key, 'a number', found)
  }

  text(key: string): string
  text<T>(key: string, fallback: T): string | T
  text<T>(key: string, ...fallback: [T?]): string | T {
    const found = this.#values.get(key)
    if (found === undefined && fallback.length > 0) return fallback[0] as T
    if (typeof found?.value === 'string') return found.value
    throw wrong(key, 'a string', found)
  }

  flag<T>(key: string, fallback: T): boolean | T {
    const found = this.#values.get(key)
    if (found === undefined) return fallback
    if (typeof found.value === 'boolean') return found.value
    throw wrong(key, 'a boolean', found)
  }

  texts(key: string): readonly string[] {
    const found = this.#values.get(key)
    if (found?.type === 'array' && found.of === 'string') return found.value
    throw wrong(key, 'an array of strings', found)
  }

  numbers<T>(key: string, fallback: T): readonly number[] | T {
    const found = this.#values.get(key)
    if (found === undefined) return fallback
    if (found.type === 'array' && found.value.every((value) => typeof value === 'number')) {
      return found.value as readonly number[]
    }
    throw wrong(key, 'an array of numbers', found)
  }
}

function wrong(key: string, wanted: string, found: GgufValue | undefined): EngineError {
  return new EngineError(
    found === undefined
      ? `the file has no ${key}`
      : `${key} is ${found.type === 'array' ? `an array of ${found.of}` : found.type} instead of ${wanted}`,
    { fix: "Use a GGUF file of a complete language model, as written by llama.cpp's converter." },
  )
}
