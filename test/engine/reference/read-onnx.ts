/**
 * Reads as much of an ONNX file as needed to find its weights: the initializers, and each node's name, type and inputs.
 * Deliberately independent of the engine's own serializer.
 */
export interface OnnxTensor {
  readonly shape: readonly number[]
  /** ONNX element type: 1 float32, 2 uint8, 3 int8. */
  readonly type: number
  /** Little-endian elements, as in `raw_data`. */
  readonly bytes: Uint8Array
}

export interface OnnxNode {
  readonly name: string
  readonly kind: string
  readonly inputs: readonly string[]
}

export interface OnnxFile {
  readonly tensors: ReadonlyMap<string, OnnxTensor>
  readonly nodes: readonly OnnxNode[]
}

interface Field {
  readonly number: number
  /** Value of a varint; NaN for bytes. */
  readonly value: number
  readonly bytes: Uint8Array
}

const empty: Uint8Array = new Uint8Array()
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

export function readOnnx(file: Uint8Array): OnnxFile {
  const tensors = new Map<string, OnnxTensor>()
  const nodes: OnnxNode[] = []
  for (const field of fieldsOf(only(file, 7))) {
    if (field.number === 1) nodes.push(readNode(field.bytes))
    if (field.number === 5) tensors.set(text(only(field.bytes, 8)), readTensor(field.bytes))
  }
  return { tensors, nodes }
}

function readNode(bytes: Uint8Array): OnnxNode {
  const fields = [...fieldsOf(bytes)]
  const texts = (number: number) =>
    fields.filter((field) => field.number === number).map((field) => text(field.bytes))
  return { inputs: texts(1), name: texts(3)[0] ?? '', kind: texts(4)[0] ?? '' }
}

function readTensor(message: Uint8Array): OnnxTensor {
  const shape: number[] = []
  let type = 0
  let bytes: Uint8Array = empty
  for (const field of fieldsOf(message)) {
    if (field.number === 1) shape.push(...(field.bytes === empty ? [field.value] : varints(field.bytes)))
    if (field.number === 2) type = field.value
    // Scalars may be in typed fields instead of raw_data: packed floats are the same bytes, small ints are varints.
    if (field.number === 4 || field.number === 9) bytes = field.bytes
    if (field.number === 5)
      bytes = Uint8Array.from(field.bytes === empty ? [field.value] : varints(field.bytes))
  }
  return { shape, type, bytes }
}

function only(message: Uint8Array, number: number): Uint8Array {
  for (const field of fieldsOf(message)) if (field.number === number) return field.bytes
  throw new Error(`an ONNX message lacks field ${number}`)
}

function* varints(bytes: Uint8Array): Generator<number> {
  const cursor = { at: 0 }
  while (cursor.at < bytes.length) yield varint(bytes, cursor)
}

function varint(bytes: Uint8Array, cursor: { at: number }): number {
  let [value, unit] = [0, 1]
  for (;;) {
    const byte = bytes[cursor.at++]
    if (byte === undefined) throw new Error('an ONNX file ends within a number')
    value += (byte & 127) * unit
    if (byte < 128) return value
    unit *= 128
  }
}

function* fieldsOf(message: Uint8Array): Generator<Field> {
  const cursor = { at: 0 }
  while (cursor.at < message.length) {
    const key = varint(message, cursor)
    const [number, wire] = [Math.floor(key / 8), key % 8]
    if (wire === 0) {
      yield { number, value: varint(message, cursor), bytes: empty }
      continue
    }
    const length = wire === 2 ? varint(message, cursor) : wire === 5 ? 4 : wire === 1 ? 8 : undefined
    if (length === undefined || cursor.at + length > message.length)
      throw new Error(`an ONNX file is damaged at field ${number}`)
    yield { number, value: Number.NaN, bytes: message.subarray(cursor.at, cursor.at + length) }
    cursor.at += length
  }
}
