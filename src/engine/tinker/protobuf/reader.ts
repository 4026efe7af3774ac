import { EngineError } from '../../checkpoint/index.ts'

/** A field: varints as bigint; fixed-width and length-delimited values as bytes. */
interface Field {
  number: number
  value: bigint | Uint8Array
}

/** Reads the fields of a message in order. Truncated or malformed data is an error. */
function* readFields(bytes: Uint8Array): Generator<Field> {
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]
      if (byte === undefined || shift > 63n) throw damaged()
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return BigInt.asUintN(64, value)
    }
  }
  const take = (length: number): Uint8Array => {
    if (length > bytes.length - at) throw damaged()
    at += length
    return bytes.subarray(at - length, at)
  }
  while (at < bytes.length) {
    const key = Number(varint())
    const number = Math.floor(key / 8)
    switch (key % 8) {
      case 0:
        yield { number, value: varint() }
        break
      case 1:
        yield { number, value: take(8) }
        break
      case 2:
        yield { number, value: take(Number(varint())) }
        break
      case 5:
        yield { number, value: take(4) }
        break
      default:
        throw damaged()
    }
  }
}

/** All fields of a message by number; repeated ones keep their order. */
export function fieldsOf(bytes: Uint8Array): Map<number, (bigint | Uint8Array)[]> {
  const fields = new Map<number, (bigint | Uint8Array)[]>()
  for (const { number, value } of readFields(bytes))
    fields.set(number, [...(fields.get(number) ?? []), value])
  return fields
}

export function textOf(value: bigint | Uint8Array | undefined): string {
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : ''
}

export function bytesOf(value: bigint | Uint8Array | undefined): Uint8Array {
  return value instanceof Uint8Array ? value : new Uint8Array()
}

export function numberOf(value: bigint | Uint8Array | undefined): number {
  if (value === undefined) return 0
  if (typeof value === 'bigint') return Number(BigInt.asIntN(64, value))
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength)
  return value.length === 8 ? view.getFloat64(0, true) : view.getFloat32(0, true)
}

function damaged(): EngineError {
  return new EngineError('The server sent a truncated or corrupted protobuf response.', {
    fix: 'Try again; if it persists, use JSON encoding.',
  })
}
