import fc from 'fast-check'
import { expect, it } from 'vitest'
import { howMany } from '../../../test/how-many.ts'
import { byteTokenizer } from '../../language/tokens/index.ts'
import { textsOf } from './tokens.ts'

it('gives a text to each token, which together are the text, and characters to their last token', () => {
  const tokenizer = byteTokenizer()
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const ids = [...tokenizer.encodeIds(text, { specials: 'text' })]
      const texts = textsOf(ids, tokenizer)
      expect(texts).toHaveLength(ids.length)
      expect(texts.join('')).toBe(text.toWellFormed())
    }),
    { numRuns: howMany(10_000) },
  )
  expect(textsOf([...tokenizer.encodeIds('aé')], tokenizer)).toEqual(['a', '', 'é'])
})
