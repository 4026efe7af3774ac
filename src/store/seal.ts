import { isUtf8 } from 'node:buffer'
import { crc32 } from 'node:zlib'
import { StoreError } from '../base/errors/index.ts'
import { parseJson } from '../schema/index.ts'

/*
 * What a run keeps as text ends in a checksum of all that comes before it: the last field of a JSON object (a line of
 * events.jsonl, the manifest), or a comment in the last line of other files. A CRC-32 finds every single flipped bit and
 * all but one in four billion other changes. It protects against decay, not against people: it can be computed anew.
 */

/** `intact`: as it was written; `broken`: changed since; `absent`: written by a coa that had no checksums, or by hand. */
export type SealState = 'intact' | 'broken' | 'absent'

/** The name of the field in JSON. */
export const SEAL_FIELD = 'crc32'

const FIELD = `,"${SEAL_FIELD}":"`
const FIELD_LENGTH = FIELD.length + 8 + 2
/** What the checksum adds to a line, its line break included. */
export const SEAL_BYTES = FIELD_LENGTH + 1

/** The checksum of bytes as eight hexadecimal digits. */
export function checksum(bytes: Uint8Array | string): string {
  return crc32(bytes).toString(16).padStart(8, '0')
}

/** The end of a JSON object whose text up to, and without, its closing brace is given. */
export function sealField(open: Uint8Array | string): string {
  return `${FIELD}${checksum(open)}"}`
}

/** JSON text of an object that is not empty, with the checksum as its last field. */
export function sealJson(text: string): string {
  const open = text.trimEnd().slice(0, -1).trimEnd()
  return `${open}${sealField(open)}\n`
}

/** Looks at the bytes of one JSON object, without line end. */
export function sealOfJson(bytes: Uint8Array): SealState {
  const at = bytes.length - FIELD_LENGTH
  if (at < 1) return 'absent'
  // What is but one byte away from a checksum is a damaged one: taken for none, it would leave the rest unchecked.
  let wrong = 0
  for (let place = 0; place < FIELD.length; place++) {
    if (bytes[at + place] !== FIELD.charCodeAt(place) && ++wrong > 1) return 'absent'
  }
  const end = Buffer.from(bytes.buffer, bytes.byteOffset + at, FIELD_LENGTH).toString('latin1')
  return end === sealField(bytes.subarray(0, at)) ? 'intact' : 'broken'
}

/**
 * The value of a sealed JSON object, without its checksum; one that does not match is an error. Takes bytes: as text,
 * what is no UTF-8 would have become something else before it could be compared.
 */
export function parseSealedJson(file: Uint8Array, path: string, fix: string): unknown {
  const bytes = file.at(-1) === 0x0a ? file.subarray(0, -1) : file
  const seal = isUtf8(bytes) ? sealOfJson(bytes) : 'broken'
  if (seal === 'broken') throw brokenSeal(path, fix)
  const value = parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'))
  if (seal === 'intact') delete (value as Record<string, unknown>)[SEAL_FIELD]
  return value
}

const comments = {
  toml: (digits: string) => `# checksum of the lines above: ${digits}\n`,
  html: (digits: string) => `<!-- checksum of the lines above: ${digits} -->\n`,
}
const comment = /^(?:# |<!-- )checksum of the lines above: [0-9a-f]{8}(?: -->)?$/

/** Text with the checksum as a comment in one more line. Markdown has HTML's comments. */
export function sealText(text: string, kind: keyof typeof comments): string {
  const lines = text.endsWith('\n') ? text : `${text}\n`
  return lines + comments[kind](checksum(lines))
}

/** The text without its last line where that is a checksum, and whether it is the right one. */
export function openSealedText(sealed: string): { text: string; seal: SealState } {
  const at = sealed.lastIndexOf('\n', sealed.length - 2) + 1
  const last = sealed.slice(at)
  // One damaged letter leaves one of these words.
  if (!comment.test(last.trimEnd()))
    return { text: sealed, seal: /checksum|lines above/.test(last) ? 'broken' : 'absent' }
  const text = sealed.slice(0, at)
  const intact = Object.values(comments).some((write) => write(checksum(text)) === last)
  return intact ? { text, seal: 'intact' } : { text: sealed, seal: 'broken' }
}

export function brokenSeal(path: string, fix: string): StoreError {
  return new StoreError(`${path} was damaged or changed after it was written: its checksum does not match`, {
    fix,
    details: { path },
  })
}
