import { describe, expect, it } from 'vitest'
import { byteTokenizer } from './byte-tokenizer.ts'
import { encodeSpans } from './encode-spans.ts'
import { tokenizerFromJson } from './tokenizer.ts'

const trained = 'role' as const
const masked = 'observation' as const
const spans = [
  { text: 'ab', kind: trained },
  { text: '', kind: masked },
  { text: 'a', kind: trained },
  { text: 'bc', kind: masked },
  { text: '', kind: trained },
  { text: 'a', kind: masked },
  { text: 'b', kind: trained },
]
/** Merges ab across borders. */
const pairs = tokenizerFromJson({
  model: { type: 'BPE', vocab: { a: 0, b: 1, c: 2, ab: 3 }, merges: ['a b'] },
})

describe('encodeSpans', () => {
  it('splits only between trainable and other text', () => {
    const result = encodeSpans(pairs, spans)
    expect(Array.from(result.ids, (id) => pairs.idToToken(id))).toEqual(['ab', 'a', 'b', 'c', 'a', 'b'])
    expect(Array.from(result.mask)).toEqual([1, 1, 0, 0, 0, 1])
    expect(Array.from(result.spanOf)).toEqual([0, 2, 3, 3, 5, 6])
    expect(Array.from(result.starts)).toEqual([0, 2, 3, 4, 5, 6])
    expect(result.straddling).toBe(0)
  })

  it('masks straddling tokens when encoded as a whole', () => {
    const result = encodeSpans(pairs, spans, { spanEncoding: 'whole' })
    expect(Array.from(result.ids, (id) => pairs.idToToken(id))).toEqual(['ab', 'ab', 'c', 'ab'])
    expect(Array.from(result.mask)).toEqual([1, 0, 0, 0])
    expect(result.straddling).toBe(2)
  })

  it('encodes control tokens as text by default', () => {
    const stream = [{ text: '<|im_end|>', kind: masked }]
    expect(encodeSpans(byteTokenizer(), stream).ids.length).toBe(10)
    expect(encodeSpans(byteTokenizer(), stream, { specials: 'recognize' }).ids.length).toBe(1)
  })

  it('handles empty input', () => {
    for (const spanEncoding of ['whole', 'separate'] as const) {
      expect(encodeSpans(byteTokenizer(), [], { spanEncoding }).ids.length).toBe(0)
      expect(encodeSpans(byteTokenizer(), [{ text: '', kind: trained }], { spanEncoding }).mask.length).toBe(
        0,
      )
    }
  })
})
