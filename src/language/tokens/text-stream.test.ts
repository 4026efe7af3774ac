import fc from 'fast-check'
import { expect, it } from 'vitest'
import { byteTokenizer } from './byte-tokenizer.ts'
import { TextStream } from './text-stream.ts'

const tokenizer = byteTokenizer()

it('emits each character as soon as it is complete, and never part of one', () => {
  const stream = new TextStream(tokenizer)
  const shown = [...Buffer.from('aé€😀b')].map((byte) => stream.push(byte))
  expect(shown).toEqual(['a', '', 'é', '', '', '€', '', '', '', '😀', 'b'])
})

it('emits invalid bytes instead of waiting forever', () => {
  const stream = new TextStream(tokenizer)
  const shown = [0xff, 0xff, 0xff, 0xff, 0xff].map((byte) => stream.push(byte)).join('')
  expect(shown.length).toBeGreaterThan(0)
  expect(shown + stream.finish()).toBe('\ufffd'.repeat(5))
  expect(stream.finish()).toBe('')
})

it('joins the bytes of a character around a skipped control token', () => {
  const stream = new TextStream(tokenizer, { skipControlTokens: true })
  expect([240, 169, 130, 256, 128].map((id) => stream.push(id))).toEqual(['', '', '', '', '𩂀'])
})

it('emits in pieces what decode returns at once, for any tokens', () => {
  const token = fc.oneof(fc.integer({ min: 0, max: 258 }), fc.constantFrom(...Buffer.from('é€😀')))
  fc.assert(
    fc.property(fc.array(token, { maxLength: 40 }), (tokens) => {
      for (const skipControlTokens of [false, true]) {
        const stream = new TextStream(tokenizer, { skipControlTokens })
        const pieces = tokens.map((each) => stream.push(each)).join('') + stream.finish()
        expect(pieces).toBe(tokenizer.decode(tokens, { skipControlTokens }))
      }
    }),
    { numRuns: 20_000 },
  )
})
