import { appendFileSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureFolder } from '../../base/files/index.ts'
import { ProtobufWriter } from '../../engine/protobuf-writer.ts'
import type { MetricPoint } from './points.ts'
import type { OpenSink, SampleChain } from './sink.ts'

/** A folder for `tensorboard --logdir`: each run has its own in it. Chains are shown under "Text". */
export const openTensorboard: OpenSink = async (target, { id, whole }) => {
  const folder = join(target, id)
  const file = join(folder, `events.out.tfevents.${id}`)
  ensureFolder(folder)
  if (whole || !existsSync(file)) writeFileSync(file, record(fileVersion))
  return {
    async send({ points, chains }) {
      appendFileSync(file, Buffer.concat([...points.map(event), ...chains.map(textEvent)].map(record)))
    },
    async close() {},
  }
}

const fileVersion = new ProtobufWriter().double(1, 0).text(3, 'brain.Event:2').finish()

function event({ time, step, name, value }: MetricPoint): Uint8Array {
  return new ProtobufWriter()
    .double(1, time / 1000)
    .int(2, step)
    .message(5, (summary) => summary.message(1, (entry) => entry.text(1, name).float(2, value)))
    .finish()
}

const STRINGS = 7

/** A text of the "text" plugin: a tensor of one string, shown as Markdown. */
function textEvent({ stage, step, question, chain, outcome }: SampleChain): Uint8Array {
  const text = `**${question}** (${outcome})\n\n${chain.replaceAll(/^/gm, '    ')}`
  return new ProtobufWriter()
    .double(1, Date.now() / 1000)
    .int(2, step)
    .message(5, (summary) =>
      summary.message(1, (entry) =>
        entry
          .text(1, `${stage}/chain`)
          .message(8, (tensor) =>
            tensor
              .int(1, STRINGS)
              .message(2, (shape) => shape.message(2, (size) => size.int(1, 1)))
              .text(8, text),
          )
          .message(9, (metadata) => metadata.message(1, (plugin) => plugin.text(1, 'text'))),
      ),
    )
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
