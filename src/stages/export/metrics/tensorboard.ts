import { ProtobufWriter } from '../../../engine/protobuf-writer.ts'
import type { MetricRow } from '../../../store/index.ts'
import { type MetricPoint, pointsOf } from './points.ts'

/** Metrics in TensorBoard's format: framed records, each a value of one tag at one step. */
export function tensorboardEvents(rows: Iterable<MetricRow>): Uint8Array {
  const records = [record(new ProtobufWriter().double(1, 0).text(3, 'brain.Event:2').finish())]
  for (const point of pointsOf(rows)) records.push(record(event(point)))
  return Buffer.concat(records)
}

function event({ time, step, name, value }: MetricPoint): Uint8Array {
  return new ProtobufWriter()
    .double(1, time / 1000)
    .int(2, step)
    .message(5, (summary) => summary.message(1, (entry) => entry.text(1, name).float(2, value)))
    .finish()
}

/** Length, its checksum, the bytes, their checksum. */
function record(bytes: Uint8Array): Uint8Array {
  const framed = Buffer.alloc(bytes.length + 16)
  framed.writeBigUInt64LE(BigInt(bytes.length), 0)
  framed.writeUInt32LE(masked(framed.subarray(0, 8)), 8)
  framed.set(bytes, 12)
  framed.writeUInt32LE(masked(bytes), 12 + bytes.length)
  return framed
}

function masked(bytes: Uint8Array): number {
  const sum = crc32c(bytes)
  return (((sum >>> 15) | (sum << 17)) + 0xa282ead8) >>> 0
}

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1
  return value
})

/** CRC-32C (Castagnoli); Node's crc32 uses another polynomial. */
export function crc32c(bytes: Uint8Array): number {
  let sum = 0xffffffff
  for (const byte of bytes) sum = crcTable[(sum ^ byte) & 255]! ^ (sum >>> 8)
  return (sum ^ 0xffffffff) >>> 0
}
