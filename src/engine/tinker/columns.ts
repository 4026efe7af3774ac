import { EngineError } from '../checkpoint/index.ts'

/** Binary messages of our trainer: a JSON header and named columns of numbers. PROTOCOL.md has the layout. */
export const COLUMNS = 'application/x-coa-columns'

type Column = Int32Array | Float32Array | Uint8Array

/** A column as it is sent: its parts are joined. */
export interface ColumnParts {
  type: 'int32' | 'float32' | 'uint8'
  parts: readonly ArrayLike<number>[]
}

export interface ColumnMessage {
  header: Record<string, unknown>
  columns: Record<string, Column>
}

const MAGIC = 0x31414f43 // "COA1"
const PREAMBLE = 12
const arrays = { int32: Int32Array, float32: Float32Array, uint8: Uint8Array }

export function encodeColumns(header: object, columns: Record<string, ColumnParts>): Uint8Array<ArrayBuffer> {
  const listed: [name: string, type: string, length: number][] = []
  let size = 0
  for (const [name, { type, parts }] of Object.entries(columns)) {
    let length = 0
    for (const part of parts) length += part.length
    listed.push([name, type, length])
    size += padded(length * arrays[type].BYTES_PER_ELEMENT)
  }
  const text = Buffer.from(JSON.stringify({ ...header, columns: listed }))
  const headerSize = padded(text.length)
  const message = new Uint8Array(PREAMBLE + headerSize + size)
  new Uint32Array(message.buffer, 0, 3).set([MAGIC, headerSize, size])
  message.fill(0x20, PREAMBLE + text.length, PREAMBLE + headerSize)
  message.set(text, PREAMBLE)
  let at = PREAMBLE + headerSize
  for (const [index, { type, parts }] of Object.values(columns).entries()) {
    const column = new arrays[type](message.buffer, at, listed[index]![2])
    let next = 0
    for (const part of parts) {
      column.set(part, next)
      next += part.length
    }
    at += padded(column.byteLength)
  }
  return message
}

/** The columns are views into the message. */
export function decodeColumns(bytes: Uint8Array): ColumnMessage {
  if (messageSize(bytes) !== bytes.length) throw damaged()
  // Typed arrays need aligned data.
  const message = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice()
  const { buffer, byteOffset, length: end } = message
  const start = PREAMBLE + new DataView(buffer, byteOffset).getUint32(4, true)
  const { columns: listed, ...header } = headerOf(message.subarray(PREAMBLE, start))
  const columns: Record<string, Column> = {}
  let at = start
  for (const [name, type, length] of listed) {
    const array = arrays[type as ColumnParts['type']]
    if (array === undefined || !(length >= 0) || at + length * array.BYTES_PER_ELEMENT > end) throw damaged()
    columns[name] = new array(buffer as ArrayBuffer, byteOffset + at, length)
    at += padded(length * array.BYTES_PER_ELEMENT)
  }
  if (at !== end) throw damaged()
  return { header, columns }
}

export function integersIn({ columns }: ColumnMessage, name: string): Int32Array {
  const column = columns[name]
  if (column instanceof Int32Array) return column
  throw damaged()
}

export function floatsIn({ columns }: ColumnMessage, name: string): Float32Array {
  const column = columns[name]
  if (column instanceof Float32Array) return column
  throw damaged()
}

/** The size of the message that begins here, or undefined if too little of it has arrived to tell. */
export function messageSize(bytes: Uint8Array): number | undefined {
  if (bytes.length < PREAMBLE) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, PREAMBLE)
  if (view.getUint32(0, true) !== MAGIC) throw damaged()
  return PREAMBLE + view.getUint32(4, true) + view.getUint32(8, true)
}

function headerOf(text: Uint8Array): Record<string, unknown> & { columns: [string, string, number][] } {
  try {
    const header = JSON.parse(Buffer.from(text.buffer, text.byteOffset, text.length).toString()) as {
      columns: [string, string, number][]
    }
    if (Array.isArray(header.columns)) return header
  } catch {}
  throw damaged()
}

function padded(size: number): number {
  return Math.ceil(size / 4) * 4
}

function damaged(): EngineError {
  return new EngineError('The trainer sent a truncated or corrupted message.', {
    fix: 'Try again; if it persists, use the trainer that came with this version.',
  })
}
