import { isUtf8 } from 'node:buffer'
import { crc32 } from 'node:zlib'
import { StoreError } from '../base/errors/index.ts'
import { parseJson } from '../schema/index.ts'

/**
 * The text files of a run end with a checksum of everything before it: the last field of a JSON object (a line of
 * events.jsonl, the manifest), or a comment in the last line of other files. A CRC-32 detects every single flipped
 * bit and all but one in four billion other changes. It protects against corruption, not tampering: anyone can
 * recompute it.
 */

/**
 * `intact`: unchanged; `broken`: changed since it was written; `absent`: written by hand or by a version of coa
 * without checksums.
 */
export type ChecksumState = 'intact' | 'broken' | 'absent'

/** Name of the JSON field. */
export const CHECKSUM_FIELD = 'crc32'

const FIELD = `,"${CHECKSUM_FIELD}":"`
const FIELD_LENGTH = FIELD.length + 8 + 2
/** Bytes that the checksum adds to a line, including its newline. */
export const CHECKSUM_BYTES = FIELD_LENGTH + 1

/** CRC-32 as eight hexadecimal digits. */
export function checksum(bytes: Uint8Array | string): string {
  return crc32(bytes).toString(16).padStart(8, '0')
}

/** The end of a JSON object with its checksum; `open` is the text before the closing brace. */
export function checksumField(open: Uint8Array | string): string {
  return `${FIELD}${checksum(open)}"}`
}

/** Adds a checksum as the last field of a non-empty JSON object. */
export function withJsonChecksum(text: string): string {
  const open = text.trimEnd().slice(0, -1).trimEnd()
  return `${open}${checksumField(open)}\n`
}

/** Checks the bytes of one JSON object, without a newline. */
export function jsonChecksumState(bytes: Uint8Array): ChecksumState {
  const at = bytes.length - FIELD_LENGTH
  if (at < 1) return 'absent'
  // A field that differs by one byte is a damaged checksum: treated as absent, it would leave the rest unchecked.
  let wrong = 0
  for (let place = 0; place < FIELD.length; place++) {
    if (bytes[at + place] !== FIELD.charCodeAt(place) && ++wrong > 1) return 'absent'
  }
  const end = Buffer.from(bytes.buffer, bytes.byteOffset + at, FIELD_LENGTH).toString('latin1')
  return end === checksumField(bytes.subarray(0, at)) ? 'intact' : 'broken'
}

/**
 * Parses a JSON object and removes its checksum; a mismatch is an error. Takes bytes, because decoding would replace
 * invalid UTF-8 before it could be checked.
 */
export function parseCheckedJson(file: Uint8Array, path: string, fix: string): unknown {
  const bytes = file.at(-1) === 0x0a ? file.subarray(0, -1) : file
  const state = isUtf8(bytes) ? jsonChecksumState(bytes) : 'broken'
  if (state === 'broken') throw checksumError(path, fix)
  const value = parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'))
  if (state === 'intact') delete (value as Record<string, unknown>)[CHECKSUM_FIELD]
  return value
}

const comments = {
  toml: (digits: string) => `# checksum of the lines above: ${digits}\n`,
  html: (digits: string) => `<!-- checksum of the lines above: ${digits} -->\n`,
}
const comment = /^(?:# |<!-- )checksum of the lines above: [0-9a-f]{8}(?: -->)?$/

/** Appends a comment line with the checksum. Markdown uses HTML comments. */
export function withTextChecksum(text: string, kind: keyof typeof comments): string {
  const lines = text.endsWith('\n') ? text : `${text}\n`
  return lines + comments[kind](checksum(lines))
}

/** Removes the checksum line, if there is one, and reports whether it matches. */
export function readCheckedText(content: string): { text: string; state: ChecksumState } {
  const at = content.lastIndexOf('\n', content.length - 2) + 1
  const last = content.slice(at)
  // One damaged letter leaves at least one of these words intact.
  if (!comment.test(last.trimEnd()))
    return { text: content, state: /checksum|lines above/.test(last) ? 'broken' : 'absent' }
  const text = content.slice(0, at)
  const intact = Object.values(comments).some((write) => write(checksum(text)) === last)
  return intact ? { text, state: 'intact' } : { text: content, state: 'broken' }
}

export function checksumError(path: string, fix: string): StoreError {
  return new StoreError(`${path} was damaged or changed after it was written: its checksum does not match`, {
    fix,
    details: { path },
  })
}
