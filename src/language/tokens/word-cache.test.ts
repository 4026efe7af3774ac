import fc from 'fast-check'
import { expect, it } from 'vitest'
import { UnitReader } from './units.ts'
import { cachedWords } from './word-cache.ts'
import type { WordTokens } from './words.ts'

function counting() {
  const asked: string[] = []
  const encodeUnits = cachedWords((word): WordTokens => {
    asked.push(word)
    return { ids: [...word].map((character) => character.codePointAt(0)!), starts: [], ends: [] }
  })
  const reader = new UnitReader()
  const encode = (text: string, start: number, end: number): WordTokens =>
    encodeUnits(reader.read(text), start, end)
  return { asked, encode }
}

it('returns the tokens of each word at any position', () => {
  const { encode } = counting()
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(60), fc.nat(60), (text, from, length) => {
      const start = Math.min(from, text.length)
      const end = Math.min(start + length, text.length)
      const { ids } = encode(text, start, end)
      expect(ids).toEqual([...text.slice(start, end)].map((character) => character.codePointAt(0)!))
    }),
    { numRuns: 5_000 },
  )
})

it('encodes a word once, and a long one every time', () => {
  const { asked, encode } = counting()
  const long = 'x'.repeat(60)
  for (const text of ['one two', 'two one', ' two two '])
    encode(text, text.indexOf('two'), text.indexOf('two') + 3)
  encode(long, 0, 60)
  encode(long, 0, 60)
  expect(asked).toEqual(['two', long, long])
})

it('clears itself when full and stays correct', () => {
  const { asked, encode } = counting()
  for (let number = 0; number < 70_000; number++) {
    const text = `word ${number}`
    expect(encode(text, 5, text.length).ids[0]).toBe(text.charCodeAt(5))
  }
  const before = asked.length
  encode('word 69999', 5, 10)
  expect(asked.length).toBe(before)
  encode('word 0', 5, 6)
  expect(asked.length).toBe(before + 1)
})
