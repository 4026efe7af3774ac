import { describe, expect, it } from 'vitest'
import { maskFromOffsets } from './mask.ts'

const trained = (length: number) => ({ length, trainable: true })
const frozen = (length: number) => ({ length, trainable: false })

describe('maskFromOffsets', () => {
  it('masks exactly the tokens that overlap a non-trainable region', () => {
    const result = maskFromOffsets([0, 2, 4, 6, 8], [2, 4, 6, 8, 10], [trained(4), frozen(4), trained(2)])
    expect(Array.from(result.mask)).toEqual([1, 1, 0, 0, 1])
    expect(Array.from(result.spanOf)).toEqual([0, 0, 1, 1, 2])
    expect(result.straddling).toBe(0)
  })

  it('masks a straddling token, from either side and across a whole region', () => {
    const result = maskFromOffsets([0, 2, 5, 8], [3, 5, 9, 9], [trained(4), frozen(2), trained(3)])
    expect(Array.from(result.mask)).toEqual([1, 0, 0, 1])
    expect(result.straddling).toBe(2)
    const across = maskFromOffsets([0], [9], [trained(4), frozen(1), trained(4)])
    expect(across).toEqual({ mask: Uint8Array.of(0), spanOf: Int32Array.of(0), straddling: 1 })
  })

  it('supports tokens that share characters', () => {
    const result = maskFromOffsets([0, 0, 0, 2], [2, 2, 2, 3], [trained(2), frozen(1)])
    expect(Array.from(result.mask)).toEqual([1, 1, 1, 0])
  })

  it('assigns a zero-width token to the next character, or at the end to the last one', () => {
    const result = maskFromOffsets([0, 0, 2, 2, 4], [0, 2, 2, 4, 4], [frozen(2), trained(2)])
    expect(Array.from(result.mask)).toEqual([0, 0, 1, 1, 1])
    expect(Array.from(result.spanOf)).toEqual([0, 0, 1, 1, 1])
    expect(result.straddling).toBe(0)
    expect(Array.from(maskFromOffsets([0, 1], [1, 1], [trained(1), frozen(0)]).mask)).toEqual([1, 1])
  })

  it('skips empty regions', () => {
    const result = maskFromOffsets(
      [0, 1],
      [1, 2],
      [frozen(0), trained(1), frozen(0), frozen(0), trained(1), frozen(0)],
    )
    expect(Array.from(result.mask)).toEqual([1, 1])
    expect(Array.from(result.spanOf)).toEqual([1, 4])
  })

  it('assigns no region if there is no text', () => {
    expect(maskFromOffsets([0], [0], [])).toEqual({
      mask: Uint8Array.of(0),
      spanOf: Int32Array.of(-1),
      straddling: 0,
    })
    expect(maskFromOffsets([], [], [trained(3)]).mask.length).toBe(0)
  })

  it('rejects offsets beyond the regions', () => {
    expect(() => maskFromOffsets([0], [5], [trained(4)])).toThrow(/after the 4 characters/)
  })
})
