import { z } from 'zod'
import { bytesOfTensor, isElementType } from './element-types.ts'
import { parseStrictJson } from './strict-json.ts'

/** Maximum header size in the reference implementation. */
export const MAX_HEADER_BYTES = 100_000_000

export interface TensorEntry {
  type: string
  shape: number[]
  /** Byte offset in the data section, which follows the header. */
  start: number
  end: number
}

export interface Header {
  metadata: Record<string, string>
  tensors: Map<string, TensorEntry>
}

const size = z.number().int().nonnegative()
const Entry = z.object({
  dtype: z.string(),
  shape: z.array(size),
  data_offsets: z.tuple([size, size]),
})

/**
 * Parses the JSON header of a safetensors file with `dataBytes` of data; nothing in it is trusted before it is checked.
 * As in the reference implementation, the tensors must cover the data exactly, without holes or overlaps.
 * Throws a SyntaxError with the problem; the caller adds the file name.
 */
export function parseHeader(text: string, dataBytes: number): Header {
  if (!text.startsWith('{')) throw new SyntaxError('the header does not start with {')
  const json = parseStrictJson(text, 4)
  const header: Header = { metadata: {}, tensors: new Map() }
  for (const [name, value] of Object.entries(json as object)) {
    if (name === '__metadata__') header.metadata = parseMetadata(value)
    else header.tensors.set(name, parseEntry(name, value))
  }
  checkOffsets(header.tensors, dataBytes)
  return header
}

function parseMetadata(value: unknown): Record<string, string> {
  const isText = (entry: unknown) => typeof entry === 'string'
  const fits = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!fits || !Object.values(value).every(isText))
    throw new SyntaxError('__metadata__ is not a map of strings')
  return value as Record<string, string>
}

function parseEntry(name: string, value: unknown): TensorEntry {
  const parsed = Entry.safeParse(value)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw new SyntaxError(`tensor ${short(name)}: ${issue?.path.join('.')}: ${issue?.message}`)
  }
  const { dtype: type, shape, data_offsets: offsets } = parsed.data
  const [start, end] = offsets
  if (!isElementType(type)) throw new SyntaxError(`tensor ${short(name)} has the unknown type ${short(type)}`)
  const bytes = bytesOfTensor(type, shape)
  if (bytes === undefined || end - start !== bytes) {
    throw new SyntaxError(
      `tensor ${short(name)} of type ${type} and shape ${short(`[${shape}]`)} does not fill bytes ${start} to ${end}`,
    )
  }
  return { type, shape, start, end }
}

function checkOffsets(tensors: Map<string, TensorEntry>, dataBytes: number): void {
  const inOrder = [...tensors].sort(([, a], [, b]) => a.start - b.start || a.end - b.end)
  let reached = 0
  for (const [name, { start, end }] of inOrder) {
    if (start < reached) throw new SyntaxError(`tensor ${short(name)} overlaps the one before it`)
    if (start > reached)
      throw new SyntaxError(`there is a hole of ${start - reached} bytes before ${short(name)}`)
    reached = end
  }
  if (reached > dataBytes)
    throw new SyntaxError(`it should have ${reached} bytes of data, but has ${dataBytes}`)
  if (reached < dataBytes)
    throw new SyntaxError(`${dataBytes - reached} bytes at the end belong to no tensor`)
}

/** Names come from the file; a malicious one must not flood the message. */
function short(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
