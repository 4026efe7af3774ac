import { resolve } from 'node:path'
import { writePartsAtomic } from '../../base/files/index.ts'
import { elementCount } from '../checkpoint/element-types.ts'
import { EngineError } from '../checkpoint/engine-error.ts'
import { quantize } from './quantize.ts'
import { tensorTypeByName, type WritableType } from './tensor-types.ts'
import { type GgufValue, type Metadata, type ValueType, valueTypes } from './values.ts'

/** A tensor to write. Its values are computed on demand, so that not all are in memory at once. */
export interface OutgoingTensor {
  name: string
  shape: number[]
  type: WritableType
  values: () => Float32Array
}

const ALIGNMENT = 32

/** Writes a GGUF version 3 file atomically. Returns its length. */
export function writeGguf(path: string, metadata: Metadata, tensors: readonly OutgoingTensor[]): number {
  for (const tensor of tensors) checkTensor(tensor)
  let position = 0
  const entries = tensors.map((tensor) => {
    const { valuesInBlock, bytesInBlock } = tensorTypeByName(tensor.type)
    const start = position
    const bytes = (elementCount(tensor.shape) / valuesInBlock) * bytesInBlock
    position = aligned(start + bytes)
    return { tensor, start, bytes }
  })
  const header = headerOf(metadata, entries)
  try {
    writePartsAtomic(resolve(path), (add) => {
      add(header)
      add(new Uint8Array(aligned(header.length) - header.length))
      for (const { tensor, bytes } of entries) {
        add(quantize(tensor.values(), tensor.type, tensor.name))
        add(new Uint8Array(aligned(bytes) - bytes))
      }
    })
  } catch (cause) {
    if (cause instanceof EngineError) throw cause
    throw new EngineError(`cannot write ${path}: ${(cause as Error).message}`, {
      fix: 'Choose a file in an existing, writable folder with enough free space.',
      cause,
    })
  }
  return aligned(header.length) + position
}

function aligned(position: number): number {
  return Math.ceil(position / ALIGNMENT) * ALIGNMENT
}

function checkTensor({ name, shape, type }: OutgoingTensor): void {
  const { valuesInBlock } = tensorTypeByName(type)
  if (shape.length > 0 && shape.length <= 4 && shape.at(-1)! % valuesInBlock === 0) return
  throw new EngineError(`${name} of shape [${shape}] cannot be stored as ${type}`, {
    fix: `Use one to four dimensions, the last a multiple of ${valuesInBlock}.`,
  })
}

function headerOf(
  metadata: Metadata,
  entries: readonly { tensor: OutgoingTensor; start: number }[],
): Uint8Array {
  const parts = new Parts()
  parts.text('GGUF', false).uint32(3).uint64(entries.length).uint64(metadata.size)
  for (const [key, value] of metadata) {
    parts.text(key).uint32(valueTypes.indexOf(value.type))
    if (value.type === 'array') {
      parts.uint32(valueTypes.indexOf(value.of)).uint64(value.value.length)
      for (const each of value.value) parts.plain(value.of, each)
    } else parts.plain(value.type, value.value)
  }
  for (const { tensor, start } of entries) {
    parts.text(tensor.name).uint32(tensor.shape.length)
    for (const size of tensor.shape.toReversed()) parts.uint64(size)
    parts.uint32(tensorTypeByName(tensor.type).id).uint64(start)
  }
  return parts.finish()
}

/** A growing byte buffer. */
class Parts {
  #bytes = Buffer.alloc(1 << 16)
  #length = 0

  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  uint32(value: number): this {
    return this.plain('uint32', value)
  }

  uint64(value: number): this {
    return this.plain('uint64', BigInt(value))
  }

  text(value: string, counted = true): this {
    if (!value.isWellFormed()) {
      throw new EngineError(`${JSON.stringify(value.slice(0, 80))} contains a lone surrogate`, {
        fix: 'Use well-formed Unicode in names, tokens and templates.',
      })
    }
    const bytes = Buffer.from(value)
    if (counted) this.uint64(bytes.length)
    this.#grow(bytes.length)
    bytes.copy(this.#bytes, this.#length)
    this.#length += bytes.length
    return this
  }

  plain(type: ValueType, value: GgufValue['value'] | bigint): this {
    if (type === 'string') return this.text(value as string)
    this.#grow(8)
    this.#length = writers[type as keyof typeof writers](this.#bytes, value as never, this.#length)
    return this
  }

  #grow(more: number): void {
    if (this.#length + more <= this.#bytes.length) return
    const larger = Buffer.alloc(2 * (this.#length + more))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}

const writers = {
  uint8: (bytes: Buffer, value: number, at: number) => bytes.writeUInt8(value, at),
  int8: (bytes: Buffer, value: number, at: number) => bytes.writeInt8(value, at),
  uint16: (bytes: Buffer, value: number, at: number) => bytes.writeUInt16LE(value, at),
  int16: (bytes: Buffer, value: number, at: number) => bytes.writeInt16LE(value, at),
  uint32: (bytes: Buffer, value: number, at: number) => bytes.writeUInt32LE(value, at),
  int32: (bytes: Buffer, value: number, at: number) => bytes.writeInt32LE(value, at),
  float32: (bytes: Buffer, value: number, at: number) => bytes.writeFloatLE(value, at),
  float64: (bytes: Buffer, value: number, at: number) => bytes.writeDoubleLE(value, at),
  uint64: (bytes: Buffer, value: bigint, at: number) => bytes.writeBigUInt64LE(value, at),
  int64: (bytes: Buffer, value: bigint, at: number) => bytes.writeBigInt64LE(value, at),
  bool: (bytes: Buffer, value: boolean, at: number) => bytes.writeUInt8(value ? 1 : 0, at),
}
