import { EngineError } from '../../checkpoint/index.ts'

/** Element types of the protocol. */
export const dtypes = { float32: 1, int64: 2, int32: 3, bfloat16: 4 } as const

export function float32Bytes(values: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * 4))
  for (const [at, value] of values.entries()) view.setFloat32(at * 4, value, true)
  return new Uint8Array(view.buffer)
}

export function int32Bytes(values: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * 4))
  for (const [at, value] of values.entries()) view.setInt32(at * 4, value, true)
  return new Uint8Array(view.buffer)
}

export function int64Bytes(values: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * 8))
  for (const [at, value] of values.entries()) view.setBigInt64(at * 8, BigInt(value), true)
  return new Uint8Array(view.buffer)
}

/** Decodes little-endian numbers. */
export function numbersIn(bytes: Uint8Array, dtype: number): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const readers: Record<number, [number, (at: number) => number]> = {
    [dtypes.float32]: [4, (at) => view.getFloat32(at, true)],
    [dtypes.int64]: [8, (at) => Number(view.getBigInt64(at, true))],
    [dtypes.int32]: [4, (at) => view.getInt32(at, true)],
    [dtypes.bfloat16]: [2, (at) => bfloat16(view.getUint16(at, true))],
  }
  const reader = readers[dtype]
  if (reader === undefined || bytes.length % reader[0] !== 0) {
    throw new EngineError(`The server sent ${bytes.length} bytes of unknown element type ${dtype}.`, {
      fix: 'Use JSON encoding with this server.',
    })
  }
  const [width, read] = reader
  return Array.from({ length: bytes.length / width }, (_, index) => read(index * width))
}

function bfloat16(bits: number): number {
  const view = new DataView(new ArrayBuffer(4))
  view.setUint32(0, bits * 2 ** 16)
  return view.getFloat32(0)
}
