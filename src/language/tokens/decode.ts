import { bytesOfCharacters } from './byte-level.ts'
import { checkGrowth } from './growth-limit.ts'
import { SequenceDecoder } from './library.ts'
import type { Component, TokenizerJson } from './tokenizer-json.ts'
import type { Vocabulary } from './vocabulary.ts'

export interface DecodeOptions {
  /** The ids continue other ids: a leading space is kept, not removed as a dummy prefix. */
  continuation?: boolean
  /** Skip control tokens such as <|im_end|>. */
  skipControlTokens?: boolean
}

export type Decode = (ids: ArrayLike<number>, options?: DecodeOptions) => string

const utf8 = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const replacementCharacter = utf8.encode('\ufffd')

/**
 * Decodes ids exactly: spaces are not cleaned up and a byte order mark is kept. Tokens become bytes that are decoded
 * together, so a character spread over several tokens is restored. An id without a token (models often have more rows
 * than tokens) becomes U+FFFD instead of stopping a rollout.
 */
export function createDecoder(json: TokenizerJson, vocabulary: Vocabulary): Decode {
  const parts = flatten(json.decoder)
  const toBytes = createTokenToBytes(parts, vocabulary)
  const control = new Set([...vocabulary.control].map((token) => vocabulary.ids.get(token)))
  if (toBytes === undefined) return createLibraryDecoder(json, vocabulary, control)
  const stripsPrefix = removesPrefix(json, parts)
  const cache: Array<Uint8Array | undefined> = []
  const bytesOf = (id: number): Uint8Array => {
    const token = vocabulary.tokens[id]
    if (token === undefined) return replacementCharacter
    cache[id] ??= toBytes(token)
    return cache[id]
  }
  // Tokens are often decoded one by one, as they arrive.
  const texts: Array<string | undefined> = []
  const textOf = (ids: ArrayLike<number>, skipsControl: boolean): string => {
    if (ids.length === 1) {
      const id = ids[0]!
      if (skipsControl && control.has(id)) return ''
      if (vocabulary.tokens[id] === undefined) return decoder.decode(replacementCharacter)
      texts[id] ??= decoder.decode(bytesOf(id))
      return texts[id]
    }
    const chunks: Uint8Array[] = []
    for (let index = 0; index < ids.length; index++) {
      const id = ids[index]!
      if (!skipsControl || !control.has(id)) chunks.push(bytesOf(id))
    }
    return decoder.decode(Buffer.concat(chunks))
  }
  return (ids, options = {}) => {
    const text = textOf(ids, options.skipControlTokens === true)
    return stripsPrefix && options.continuation !== true && text.startsWith(' ') ? text.slice(1) : text
  }
}

function flatten(component: Component | null | undefined): Component[] {
  if (component === null || component === undefined) return []
  if (component.type !== 'Sequence') return [component]
  return ((component['decoders'] ?? []) as Component[]).flatMap(flatten)
}

/** Maps tokens to bytes for decoders that treat tokens individually; undefined for the others. */
function createTokenToBytes(
  parts: Component[],
  vocabulary: Vocabulary,
): ((token: string) => Uint8Array) | undefined {
  if (parts.length === 1 && parts[0]!.type === 'ByteLevel') {
    const added = new Set(vocabulary.added.map((token) => token.content))
    return (token) => (added.has(token) ? undefined : bytesOfCharacters(token)) ?? utf8.encode(token)
  }
  const replacements: Array<[string, string]> = []
  for (const part of parts) {
    const literal = (part['pattern'] as { String?: string } | undefined)?.String
    if (part.type === 'Metaspace') replacements.push([String(part['replacement'] ?? '▁'), ' '])
    else if (part.type === 'Replace' && literal !== undefined) {
      replacements.push([literal, String(part['content'] ?? '')])
    } else if (part.type !== 'ByteFallback' && part.type !== 'Fuse' && part.type !== 'Strip') return undefined
  }
  if (replacements.length === 0) return undefined
  const byteFallback = parts.some((part) => part.type === 'ByteFallback')
  return (token) => {
    const byte = byteFallback ? /^<0x([0-9A-F]{2})>$/.exec(token) : null
    if (byte !== null) return Uint8Array.of(Number.parseInt(byte[1]!, 16))
    return utf8.encode(replacements.reduce((text, [from, to]) => replaced(text, from, to, token), token))
  }
}

function replaced(text: string, from: string, to: string, token: string): string {
  const parts = text.split(from)
  checkGrowth(text.length + (parts.length - 1) * (to.length - from.length), token.length)
  return parts.join(to)
}

/**
 * Whether a leading space is the dummy prefix. A decoder that strips one although the encoder adds none (InternLM2)
 * would lose text, so it is ignored.
 */
function removesPrefix(json: TokenizerJson, parts: Component[]): boolean {
  const metaspace = parts.find((part) => part.type === 'Metaspace')
  if (metaspace !== undefined) return (metaspace['prepend_scheme'] ?? 'always') !== 'never'
  const encoder = JSON.stringify([json.normalizer ?? null, json.pre_tokenizer ?? null])
  const adds =
    encoder.includes('"Prepend"') || (encoder.includes('"Metaspace"') && !encoder.includes('"never"'))
  return adds && parts.some((part) => part.type === 'Strip' && Number(part['start'] ?? 0) > 0)
}

function createLibraryDecoder(
  json: TokenizerJson,
  vocabulary: Vocabulary,
  control: ReadonlySet<number | undefined>,
): Decode {
  const chain = json.decoder ? new SequenceDecoder({ type: 'Sequence', decoders: [json.decoder] }) : undefined
  return (ids, options = {}) => {
    const tokens: string[] = []
    for (let index = 0; index < ids.length; index++) {
      const id = ids[index]!
      if (options.skipControlTokens !== true || !control.has(id))
        tokens.push(vocabulary.tokens[id] ?? '\ufffd')
    }
    return chain === undefined ? tokens.join(' ') : chain.decode(tokens)
  }
}
