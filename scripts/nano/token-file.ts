import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { createGzip } from 'node:zlib'
import type { Tokenizer } from '../../src/language/tokens/index.ts'
import { type BaseDocument, textOf } from './text/document.ts'

/** Flag for given tokens, which have a low loss weight. Ids are far smaller. */
export const GIVEN = 0x8000

/** The tokens of a document, including the end token, in 16 bits each. */
export function encodeDocument(tokenizer: Tokenizer, document: BaseDocument): Uint16Array {
  const { ids, starts } = tokenizer.encode(textOf(document))
  const tokens = new Uint16Array(ids.length + 1)
  let part = 0
  let end = document[0]!.text.length
  for (let at = 0; at < ids.length; at++) {
    while (starts[at]! >= end && part < document.length - 1) end += document[++part]!.text.length
    tokens[at] = ids[at]! | (document[part]!.given ? GIVEN : 0)
  }
  tokens[ids.length] = tokenizer.eosId!
  return tokens
}

/** Writes documents consecutively, gzipped, which any Python can read. */
export async function writeTokenFile(path: string, documents: Iterable<Uint16Array>): Promise<void> {
  const packed = createGzip({ level: 9 })
  const file = packed.pipe(createWriteStream(path))
  const written = once(file, 'finish')
  for (const tokens of documents) {
    const bytes = Buffer.alloc(2 * tokens.length)
    tokens.forEach((token, at) => {
      bytes.writeUInt16LE(token, 2 * at)
    })
    if (!packed.write(bytes)) await once(packed, 'drain')
  }
  packed.end()
  await written
}
