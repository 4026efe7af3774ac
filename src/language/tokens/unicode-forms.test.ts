import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { howMany } from '../../../test/how-many.ts'
import { originalEnd, originalStart, plainText } from './aligned-text.ts'
import { normalizeForm } from './unicode-forms.ts'

const forms = ['NFC', 'NFD', 'NFKC', 'NFKD'] as const

describe('normalization that keeps positions', () => {
  it('matches String.normalize for every code point and for combining pairs', {
    timeout: 120_000,
  }, () => {
    for (let code = 0; code <= 0x10ffff; code += code === 0xd7ff ? 0x801 : 1) {
      const character = String.fromCodePoint(code)
      if (
        character.normalize('NFKD') === character &&
        character.normalize('NFC') === character &&
        code % 97 !== 0
      )
        continue
      for (const form of forms) {
        const text = `a${character}b\u0301`
        if (normalizeForm(plainText(text, 0), form).text !== text.normalize(form))
          throw new Error(`${form} of ${code}`)
        // A decomposed character after another.
        const apart = `x${character.normalize('NFKD')}${character}`
        if (normalizeForm(plainText(apart, 0), form).text !== apart.normalize(form))
          throw new Error(`${form} of ${code}`)
      }
    }
  })

  it('keeps positions in order and within the text', () => {
    const characters = fc.constantFrom(
      ...'aeé|\u0301|\u0323|\u0327|\u1112|\u1161|\u11ab|한|ｶ|ﾞ|ﬁ|\u09c7|\u09be|\u{16d67}|😀| |ㄱ|ㅏ'.split(
        '|',
      ),
    )
    fc.assert(
      fc.property(fc.array(characters, { maxLength: 12 }), fc.constantFrom(...forms), (parts, form) => {
        const text = parts.join('')
        const result = normalizeForm(plainText(text, 5), form)
        expect(result.text).toBe(text.normalize(form))
        let last = 5
        for (let index = 0; index < result.text.length; index++) {
          expect(originalStart(result, index)).toBeGreaterThanOrEqual(last)
          expect(originalEnd(result, index)).toBeGreaterThan(originalStart(result, index))
          last = originalStart(result, index)
        }
        expect(last).toBeLessThanOrEqual(5 + text.length)
      }),
      { numRuns: howMany(3000), seed: 1 },
    )
  })

  it('includes the marks of a composed character, but no neighbor', () => {
    const result = normalizeForm(plainText('le\u0301\u0323x', 0), 'NFC')
    expect(result.text).toBe('lẹ\u0301x')
    expect(Array.from(result.starts!)).toEqual([0, 1, 1, 4])
    expect(Array.from(result.ends!)).toEqual([1, 4, 4, 5])
    // The two vowel signs compose with each other, not with the preceding letter.
    const vowel = normalizeForm(plainText('l\u09c7\u09be', 0), 'NFC')
    expect(Array.from(vowel.starts!)).toEqual([0, 1])
  })

  it('treats a long stack of marks as one piece', () => {
    const text = `e${'\u0301\u0323'.repeat(5_000)}`
    expect(normalizeForm(plainText(text, 0), 'NFC').text).toBe(text.normalize('NFC'))
  })
})
