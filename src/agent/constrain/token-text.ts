import { bytesOfCharacters } from '../../language/tokens/byte-level.ts'
import type { Tokenizer } from '../../language/tokens/index.ts'
import { symbolOf } from './symbols.ts'
import { characterLength, isContinuation, readCharacter } from './utf8.ts'

/** A token's bytes, split at character boundaries. */
export interface TokenText {
  /** The last bytes of a character started by an earlier token. */
  head: Uint8Array
  /** Complete characters, each as the character with its symbol's code. */
  symbols: string
  /** The first bytes of a character completed by later tokens. */
  tail: Uint8Array
}

const utf8 = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Bytes that a token adds to a text; undefined if none or unknown. */
function bytesOf(tokenizer: Tokenizer, token: number): Uint8Array | undefined {
  const name = tokenizer.idToToken(token)
  if (name === undefined || tokenizer.isControl(token)) return undefined
  const text = tokenizer.decode([token], { continuation: true })
  if (text === '') return undefined
  if (!text.includes('\ufffd') || name.includes('\ufffd')) return utf8.encode(text)
  // Part of a character: its bytes are only visible in the vocabulary's notation.
  const byte = /^<0x([0-9A-F]{2})>$/.exec(name)
  const bytes = byte === null ? bytesOfCharacters(name) : Uint8Array.of(Number.parseInt(byte[1]!, 16))
  return bytes !== undefined && decoder.decode(bytes) === text ? bytes : undefined
}

/** Undefined for control tokens and for those that cannot be valid text. */
export function tokenText(tokenizer: Tokenizer, token: number): TokenText | undefined {
  const bytes = bytesOf(tokenizer, token)
  if (bytes === undefined) return undefined
  let at = 0
  while (at < bytes.length && isContinuation(bytes[at]!)) at++
  const head = bytes.subarray(0, at)
  let symbols = ''
  while (at < bytes.length) {
    const length = characterLength(bytes[at]!)
    if (length === 0) return undefined
    const spelled = bytes.subarray(at, at + length)
    const character = readCharacter(spelled)
    if (character === 'invalid') return undefined
    if (character === 'partial') return { head, symbols, tail: spelled }
    symbols += String.fromCharCode(symbolOf(character))
    at += length
  }
  return { head, symbols, tail: bytes.subarray(at) }
}
