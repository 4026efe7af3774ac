import { elementCount } from './element-types.ts'
import { EngineError, listed } from './engine-error.ts'
import { widenBfloat16, widenHalf } from './half-floats.ts'
import { decodeText, gitPointerFix, readFully, withFile } from './read-bytes.ts'
import { type Header, MAX_HEADER_BYTES, parseHeader, type TensorEntry } from './safetensors-header.ts'
import { nonFiniteFindings, type StoredTensors } from './stored-tensor.ts'

export interface ReadOptions {
  /** Which tensors to read; default: all. The others may have unsupported types. */
  only?: (name: string) => boolean
  /** Accept NaN and infinite values, to inspect a broken model. */
  allowNonFinite?: boolean
}

/** Reads only the header: names, types and shapes. */
export function readHeader(path: string): Header {
  return withFile(path, (file, bytes) => openHeader(path, file, bytes).header)
}

/** Reads the tensors of a safetensors file (F32, F16, BF16 or F64) as Float32. */
export function readTensors(
  path: string,
  options: ReadOptions = {},
): { tensors: StoredTensors; metadata: Record<string, string> } {
  return withFile(path, (file, bytes) => {
    const { header, dataStart } = openHeader(path, file, bytes)
    const wanted = [...header.tensors].filter(([name]) => options.only?.(name) ?? true)
    rejectOtherTypes(path, wanted)
    const tensors: StoredTensors = new Map()
    for (const [name, entry] of wanted) {
      const values = new Float32Array(elementCount(entry.shape))
      readValues(file, dataStart + entry.start, entry.type, values)
      tensors.set(name, { shape: entry.shape, values })
    }
    if (!options.allowNonFinite) rejectNonFinite(path, tensors)
    return { tensors, metadata: header.metadata }
  })
}

function openHeader(path: string, file: number, bytes: number): { header: Header; dataStart: number } {
  const prefix = new Uint8Array(8)
  try {
    if (bytes < 8) throw new SyntaxError(`it has only ${bytes} bytes`)
    readFully(file, prefix, 0)
    const length = Number(new DataView(prefix.buffer).getBigUint64(0, true))
    if (length > MAX_HEADER_BYTES) throw new SyntaxError(`its header would have ${length} bytes`)
    if (length > bytes - 8) throw new SyntaxError(`it ends within its header of ${length} bytes`)
    const text = new Uint8Array(length)
    readFully(file, text, 8)
    const dataStart = 8 + length
    return { header: parseHeader(decodeText(text), bytes - dataStart), dataStart }
  } catch (cause) {
    throw new EngineError(`${path} is not a valid safetensors file: ${(cause as Error).message}`, {
      fix: gitPointerFix(String.fromCharCode(...prefix)) ?? 'Download or write the file again.',
      details: { path },
      cause,
    })
  }
}

function rejectOtherTypes(path: string, entries: [string, TensorEntry][]): void {
  const others = entries.filter(([, { type }]) => !['F32', 'F16', 'BF16', 'F64'].includes(type))
  if (others.length === 0) return
  throw new EngineError(
    `${path} has tensors of unsupported types: ${listed(others.map(([name, { type }]) => `${name} (${type})`))}`,
    {
      fix: 'Save the model in float32, float16 or bfloat16; quantized models are not supported.',
      details: { path },
    },
  )
}

function rejectNonFinite(path: string, tensors: StoredTensors): void {
  const findings = nonFiniteFindings(tensors)
  if (findings.length === 0) return
  throw new EngineError(`${path} has NaN or infinite values: ${listed(findings)}`, {
    fix: 'Use an earlier checkpoint; if this one comes from training, lower the learning rate.',
    details: { path, tensors: findings },
  })
}

/** Elements converted at a time: small enough for the CPU cache, large enough for few calls. */
const CHUNK = 1 << 18

function readValues(file: number, position: number, type: string, values: Float32Array): void {
  if (type === 'F32') {
    readFully(file, new Uint8Array(values.buffer), position)
    return
  }
  const width = type === 'F64' ? 8 : 2
  const bytes = new Uint8Array(Math.min(CHUNK, values.length) * width)
  for (let done = 0; done < values.length; done += CHUNK) {
    const part = values.subarray(done, done + CHUNK)
    readFully(file, bytes.subarray(0, part.length * width), position + done * width)
    if (type === 'F64') part.set(new Float64Array(bytes.buffer, 0, part.length))
    else if (type === 'F16') widenHalf(new Uint16Array(bytes.buffer, 0, part.length), part)
    else widenBfloat16(new Uint16Array(bytes.buffer, 0, part.length), part)
  }
}
