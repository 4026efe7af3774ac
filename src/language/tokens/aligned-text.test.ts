import { describe, expect, it } from 'vitest'
import { applyEdits, mapMatches, originalEnd, originalStart, plainText, slice } from './aligned-text.ts'

const positions = (text: ReturnType<typeof plainText>): string =>
  Array.from(text.text, (_, index) => `${originalStart(text, index)}-${originalEnd(text, index)}`).join(' ')

describe('aligned text', () => {
  it('maps replacement text to everything it replaced', () => {
    const result = applyEdits(plainText('abcdef', 10), [{ start: 1, end: 4, text: 'XY' }])
    expect(result.text).toBe('aXYef')
    expect(positions(result)).toBe('10-11 11-14 11-14 14-15 15-16')
  })

  it('maps an insertion to the whole following character', () => {
    const result = applyEdits(plainText('😀b', 0), [{ start: 0, end: 0, text: '_' }])
    expect(originalEnd(result, 0)).toBe(2)
    expect(positions(applyEdits(plainText('a', 3), [{ start: 1, end: 1, text: '!' }]))).toBe('3-4 4-4')
    expect(positions(applyEdits(plainText('', 3), [{ start: 0, end: 0, text: '!' }]))).toBe('3-3')
  })

  it('composes edits and slices', () => {
    const once = mapMatches(plainText('a  b  c', 0), / +/gu, () => '_')
    const twice = mapMatches(slice(once, 1, 5), /b_/gu, () => 'B')
    expect(twice.text).toBe('_Bc')
    expect(positions(twice)).toBe('1-3 3-6 6-7')
    expect(positions(mapMatches(once, /_/gu, () => ''))).toBe('0-1 3-4 6-7')
  })

  it('returns the same text without edits', () => {
    const text = plainText('same', 2)
    expect(applyEdits(text, [])).toBe(text)
    expect(slice(text, 0, 4)).toBe(text)
  })
})
