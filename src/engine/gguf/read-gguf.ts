import { elementCount } from '../checkpoint/element-types.ts'
import { EngineError } from '../checkpoint/engine-error.ts'
import { gitPointerFix, readFully, withFile } from '../checkpoint/read-bytes.ts'
import { ByteCursor } from './byte-cursor.ts'
import { dequantize } from './dequantize.ts'
import { nameOfTensorType, readableTypes, tensorTypeById, tensorTypeByName } from './tensor-types.ts'
import { type GgufValue, type Metadata, minBytes, valueTypes } from './values.ts'

/** A tensor entry of the header. */
export interface GgufTensor {
  name: string
  /** Row-major, last dimension innermost: the reverse of the file. */
  shape: number[]
  type: string
  typeId: number
  /** Byte offset in the file. */
  start: number
  bytes: number
}

export interface GgufHeader {
  metadata: Metadata
  tensors: Map<string, GgufTensor>
}

const MAGIC = 0x46554747
const ALIGNMENT_KEY = 'general.alignment'
const MAX_DIMENSIONS = 4

/** Reads metadata and tensor entries, and checks them against the file. */
export function readGguf(path: string): GgufHeader {
  return withFile(path, (file, bytes) => {
    try {
      return parse(new ByteCursor(file, bytes), bytes)
    } catch (cause) {
      if (cause instanceof EngineError) throw cause
      const start = new Uint8Array(Math.min(8, bytes))
      readFully(file, start, 0)
      throw new EngineError(`${path} is not a valid GGUF file: ${(cause as Error).message}`, {
        fix: gitPointerFix(String.fromCharCode(...start)) ?? 'Download or write the file again.',
        details: { path },
        cause,
      })
    }
  })
}

/** The values of a tensor as Float32, dequantized if necessary. */
export function readGgufTensor(path: string, tensor: GgufTensor): Float32Array {
  return readValues(path, tensor, 0, elementCount(tensor.shape))
}

/** Whole rows, a few million values at a time, so that an embedding is never completely in memory. */
export function* readGgufRows(path: string, tensor: GgufTensor): Generator<Float32Array> {
  const width = tensor.shape.at(-1)!
  const step = Math.max(1, Math.floor(PART_VALUES / width)) * width
  const count = elementCount(tensor.shape)
  for (let done = 0; done < count; done += step)
    yield readValues(path, tensor, done, Math.min(step, count - done))
}

const PART_VALUES = 1 << 22

/** `from` must be the start of a row, and thereby of a block. */
function readValues(path: string, tensor: GgufTensor, from: number, count: number): Float32Array {
  if (!readableTypes.includes(tensor.type)) {
    throw new EngineError(`${tensor.name} is stored as ${tensor.type}, which is not supported`, {
      fix: `Use a file with ${readableTypes.join(', ')}; \`llama-quantize --allow-requantize FILE OUT Q8_0\` (llama.cpp) creates one.`,
      details: { path },
    })
  }
  const { valuesInBlock, bytesInBlock } = tensorTypeByName(tensor.type)
  const bytesOf = (values: number): number => (values / valuesInBlock) * bytesInBlock
  return withFile(path, (file) => {
    const stored = new Uint8Array(bytesOf(count))
    readFully(file, stored, tensor.start + bytesOf(from))
    return dequantize(stored, tensor.type, count)
  })
}

function parse(cursor: ByteCursor, fileBytes: number): GgufHeader {
  if (fileBytes < 24 || cursor.uint32() !== MAGIC) throw new SyntaxError('it does not start with GGUF')
  const version = cursor.uint32()
  if (version > 0xffff) throw new SyntaxError('it is big-endian; only little-endian files are supported')
  if (version !== 2 && version !== 3)
    throw new SyntaxError(`its version is ${version}; only 2 and 3 are supported`)
  // Minimum sizes: a tensor has a name length, one dimension, type and offset; a value has a key length and type.
  const tensorCount = cursor.count('the number of tensors', 32)
  const valueCount = cursor.count('the number of values', 13)
  const metadata: Metadata = new Map()
  for (let index = 0; index < valueCount; index++) {
    const key = cursor.text()
    if (metadata.has(key)) throw new SyntaxError(`duplicate key ${shown(key)}`)
    metadata.set(key, readValue(cursor, key))
  }
  const tensors = Array.from({ length: tensorCount }, () => readEntry(cursor))
  const alignment = alignmentOf(metadata)
  const dataStart = Math.ceil(cursor.position / alignment) * alignment
  return { metadata, tensors: placed(tensors, { dataStart, alignment, fileBytes }) }
}

function readValue(cursor: ByteCursor, key: string): GgufValue {
  const type = valueTypes[cursor.uint32()]
  if (type === undefined) throw new SyntaxError(`the value of ${shown(key)} has an unknown type`)
  if (type !== 'array') return { type, value: readPlain(cursor, type) } as GgufValue
  const of = valueTypes[cursor.uint32()]
  if (of === undefined || of === 'array') {
    throw new SyntaxError(`${shown(key)} is an array of ${of === 'array' ? 'arrays' : 'an unknown type'}`)
  }
  const length = cursor.count(`the length of ${shown(key)}`, minBytes[of])
  return { type, of, value: Array.from({ length }, () => readPlain(cursor, of)) } as GgufValue
}

function readPlain(
  cursor: ByteCursor,
  type: Exclude<(typeof valueTypes)[number], 'array'>,
): number | bigint | boolean | string {
  return type === 'string' ? cursor.text() : cursor[type]()
}

/** A tensor entry; its offset is still relative to the start of the data. */
function readEntry(cursor: ByteCursor): Omit<GgufTensor, 'bytes'> {
  const name = cursor.text()
  const dimensions = cursor.uint32()
  if (dimensions === 0 || dimensions > MAX_DIMENSIONS) {
    throw new SyntaxError(`${shown(name)} has ${dimensions} dimensions`)
  }
  const shape = Array.from({ length: dimensions }, () => Number(cursor.uint64())).reverse()
  const typeId = cursor.uint32()
  return { name, shape, type: nameOfTensorType(typeId), typeId, start: Number(cursor.uint64()) }
}

function alignmentOf(metadata: Metadata): number {
  const alignment = metadata.get(ALIGNMENT_KEY)?.value ?? 32
  if (
    typeof alignment === 'number' &&
    alignment >= 8 &&
    alignment <= 1 << 20 &&
    Number.isInteger(Math.log2(alignment))
  ) {
    return alignment
  }
  throw new SyntaxError(`its alignment is ${String(alignment)}, not a power of two from 8`)
}

function placed(
  entries: readonly Omit<GgufTensor, 'bytes'>[],
  { dataStart, alignment, fileBytes }: { dataStart: number; alignment: number; fileBytes: number },
): Map<string, GgufTensor> {
  const tensors = new Map<string, GgufTensor>()
  for (const entry of entries) {
    if (tensors.has(entry.name)) throw new SyntaxError(`duplicate tensor ${shown(entry.name)}`)
    if (entry.start % alignment !== 0)
      throw new SyntaxError(`${shown(entry.name)} is not aligned to ${alignment}`)
    const start = dataStart + entry.start
    const bytes = bytesOf(entry)
    if (start + bytes > fileBytes) {
      throw new SyntaxError(
        `${shown(entry.name)} ends at byte ${start + bytes}, but the file has ${fileBytes}`,
      )
    }
    tensors.set(entry.name, { ...entry, start, bytes })
  }
  const inOrder = [...tensors.values()].sort((one, other) => one.start - other.start)
  for (const [index, { name, start, bytes }] of inOrder.entries()) {
    const next = inOrder[index + 1]
    if (next !== undefined && start + bytes > next.start) {
      throw new SyntaxError(`${shown(name)} and ${shown(next.name)} overlap`)
    }
  }
  return tensors
}

/** Zero for an unknown type: such a tensor may be in the file as long as it is not read. */
function bytesOf({ name, shape, typeId }: Omit<GgufTensor, 'bytes'>): number {
  const values = shape.reduce((product, size) => product * size, 1)
  if (!(Number.isSafeInteger(values) && values > 0))
    throw new SyntaxError(`${shown(name)} has the shape ${shape}`)
  const type = tensorTypeById(typeId)
  if (type === undefined) return 0
  if (shape.at(-1)! % type.valuesInBlock !== 0) {
    throw new SyntaxError(
      `${shown(name)} has rows of ${shape.at(-1)}, but ${type.name} needs a multiple of ${type.valuesInBlock}`,
    )
  }
  return (values / type.valuesInBlock) * type.bytesInBlock
}

function shown(name: string): string {
  return name.length > 80 ? `${JSON.stringify(name.slice(0, 80))}…` : JSON.stringify(name)
}
