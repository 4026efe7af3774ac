import { writePartsAtomic } from '../../base/files/index.ts'
import { bytesOfElement, type ElementType, elementCount } from './element-types.ts'
import { EngineError } from './engine-error.ts'
import { narrowToBfloat16, narrowToHalf } from './half-floats.ts'
import type { StoredTensor, StreamedTensor, TensorsToSave } from './stored-tensor.ts'

export interface WriteOptions {
  elementType?: ElementType
  metadata?: Record<string, string>
}

/**
 * Writes a safetensors file atomically. The layout follows the reference implementation: tensors sorted by name, header
 * padded with spaces to a multiple of 8 bytes.
 */
export function writeTensors(path: string, tensors: TensorsToSave, options: WriteOptions = {}): void {
  const type = options.elementType ?? 'F32'
  const inOrder = [...tensors].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  const header = headerOf(inOrder, type, options.metadata ?? {})
  writePartsAtomic(path, (add) => {
    add(header)
    for (const [name, tensor] of inOrder) {
      if (tensor.values !== undefined) writeValues(add, name, tensor.values, type)
      else for (const part of tensor.parts()) writeValues(add, name, part, type)
    }
  })
}

function headerOf(
  tensors: [string, StoredTensor | StreamedTensor][],
  type: ElementType,
  metadata: Record<string, string>,
): Uint8Array {
  // Without the format, some versions of transformers reject the file. Pairs, so that any name can be a key.
  const entries: [string, unknown][] = [['__metadata__', { format: 'pt', ...metadata }]]
  let reached = 0
  for (const [name, { shape, values }] of tensors) {
    checkTensor(name, shape, values)
    const end = reached + elementCount(shape) * bytesOfElement[type]
    entries.push([name, { dtype: type, shape, data_offsets: [reached, end] }])
    reached = end
  }
  const pairs = entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`)
  const text = Buffer.from(`{${pairs.join(',')}}`)
  const length = Math.ceil(text.length / 8) * 8
  const header = new Uint8Array(8 + length).fill(0x20)
  new DataView(header.buffer).setBigUint64(0, BigInt(length), true)
  header.set(text, 8)
  return header
}

function checkTensor(name: string, shape: number[], values: Float32Array | undefined): void {
  const problem =
    name === '__metadata__'
      ? 'has a reserved name'
      : !name.isWellFormed()
        ? 'has a name that is not valid Unicode'
        : values !== undefined && elementCount(shape) !== values.length
          ? `of shape [${shape}] has ${values.length} values`
          : undefined
  if (problem !== undefined) {
    throw new EngineError(`tensor ${name} ${problem}`, {
      fix: 'Give each tensor a plain name and as many values as its shape requires.',
    })
  }
}

/** Elements narrowed and written at a time. */
const CHUNK = 1 << 18

function writeValues(
  add: (bytes: Uint8Array) => void,
  name: string,
  values: Float32Array,
  type: ElementType,
): void {
  if (type === 'F32') {
    add(new Uint8Array(values.buffer, values.byteOffset, values.byteLength))
    return
  }
  const narrow = type === 'F16' ? narrowToHalf : narrowToBfloat16
  const narrowed = new Uint16Array(Math.min(CHUNK, values.length))
  for (let done = 0; done < values.length; done += CHUNK) {
    const part = values.subarray(done, done + CHUNK)
    const overflow = narrow(part, narrowed)
    if (overflow !== -1) {
      throw new EngineError(`${name} has the value ${part[overflow]}, which is too large for ${type}`, {
        fix: type === 'F16' ? 'Write BF16 or F32 instead.' : 'Write F32 instead.',
        details: { tensor: name, index: done + overflow },
      })
    }
    add(new Uint8Array(narrowed.buffer, 0, part.length * 2))
  }
}
