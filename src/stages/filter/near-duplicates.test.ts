import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { makeSequence } from '../../../test/filter/make-sequence.ts'
import { howMany } from '../../../test/how-many.ts'
import { hashShingles, hashWords, scramble, WordBuffer } from '../../base/digests/index.ts'
import { agree, HASHES, minHash, Signatures, similarity } from './min-hash.ts'
import { bandsFor, findDuplicates } from './near-duplicates.ts'

function signatureOf(set: Uint32Array): Uint32Array {
  const signature = new Uint32Array(HASHES)
  minHash(set, signature)
  return signature
}

/** Two sets with `common` shared elements and some of their own. Scrambling is a permutation, so all differ. */
function pair(common: number, left: number, right: number, salt: number): [Uint32Array, Uint32Array] {
  const from = (start: number, count: number) =>
    Array.from({ length: count }, (_, index) => scramble(salt + start + index))
  const shared = from(0, common)
  return [
    Uint32Array.from([...shared, ...from(10_000, left)]),
    Uint32Array.from([...from(20_000, right), ...shared]),
  ]
}

/** An independent implementation, written for readability. */
function trueLikeness(left: string, right: string): number {
  const shingles = (text: string): Set<string> => {
    const words = text.toLowerCase().match(/[a-z0-9]+|[+\-*/=<>^%$\\&~@#|_]/g) ?? []
    if (words.length < 5) return new Set(words.length === 0 ? [] : [words.join(' ')])
    return new Set(words.slice(4).map((_, at) => words.slice(at, at + 5).join(' ')))
  }
  const [one, other] = [shingles(left), shingles(right)]
  const common = [...one].filter((shingle) => other.has(shingle)).length
  const all = one.size + other.size - common
  return all === 0 ? 1 : common / all
}

describe('minHash', () => {
  it('estimates the similarity of two sets without bias', () => {
    let error = 0
    let cases = 0
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 200 }),
        fc.integer({ min: 0, max: 200 }),
        fc.integer({ min: 0, max: 200 }),
        fc.integer({ min: 0, max: 2 ** 31 }),
        (common, ownLeft, ownRight, salt) => {
          fc.pre(common + ownLeft > 0 && common + ownRight > 0)
          const [left, right] = pair(common, ownLeft, ownRight, salt)
          const truth = common / (common + ownLeft + ownRight)
          const estimate = similarity(signatureOf(left), signatureOf(right))
          error += estimate - truth
          cases++
          // Two of a handful of elements may share a slot, and then one of them is not seen at all.
          expect(Math.abs(estimate - truth)).toBeLessThan(0.25 + 1 / (common + Math.min(ownLeft, ownRight)))
        },
      ),
      { numRuns: howMany(10_000) },
    )
    expect(Math.abs(error / cases)).toBeLessThan(0.01)
  })

  it('agrees exactly when the number of equal slots says so', () => {
    const [left, right] = pair(100, 20, 20, 7).map(signatureOf) as [Uint32Array, Uint32Array]
    const same = similarity(left, right) * HASHES
    expect(agree(left, right, same)).toBe(true)
    expect(agree(left, right, same + 1)).toBe(false)
  })

  it('treats texts as sets of five-word shingles', () => {
    const word = fc.constantFrom(
      'light',
      'Harbour',
      'lamp,',
      '1923',
      'oil.',
      'x+1',
      'keeper',
      '<b>',
      'of',
      'the',
    )
    const text = fc.array(word, { maxLength: 60 }).map((words) => words.join(' '))
    const read = (value: string): Uint32Array => {
      const [words, shingles] = [new WordBuffer(), new WordBuffer()]
      hashWords(value, words)
      hashShingles(words.values, 5, shingles)
      return new Uint32Array(new Set(shingles.values))
    }
    fc.assert(
      fc.property(text, text, fc.nat(60), (one, other, cut) => {
        const mixed = one.slice(0, cut) + other
        const [left, right] = [new Set(read(one)), new Set(read(mixed))]
        const common = [...left].filter((shingle) => right.has(shingle)).length
        const all = left.size + right.size - common
        expect(all === 0 ? 1 : common / all).toBe(trueLikeness(one, mixed))
      }),
      { numRuns: howMany(10_000) },
    )
  })
})

describe('bandsFor', () => {
  it('uses as many rows as the recall at the threshold allows', () => {
    expect(bandsFor(0.8)).toEqual({ bands: 21, rows: 6 })
    for (const threshold of [0.3, 0.5, 0.7, 0.9, 1]) {
      const { bands, rows } = bandsFor(threshold)
      expect(bands * rows).toBeLessThanOrEqual(HASHES)
      expect(1 - (1 - threshold ** rows) ** bands).toBeGreaterThanOrEqual(0.99)
    }
  })
})

describe('findDuplicates', () => {
  /** Families of sequences: copies of a text, each with some words changed. */
  function families(seed: number): Signatures {
    const signatures = new Signatures()
    const random = (bound: number): number => {
      seed = scramble(seed + 1)
      return seed % bound
    }
    for (let family = 0; family < 8; family++) {
      const words = Array.from({ length: 150 }, () => `w${random(5000)}`)
      for (let member = 0; member < 6; member++) {
        const changed = [...words]
        for (let change = 0; change < member * 3; change++) changed[random(150)] = `n${random(5000)}`
        const sequence = makeSequence({ thought: changed.join(' '), calls: [], checks: [] })
        signatures.add({ question: '', sequence })
      }
    }
    return signatures
  }

  it('keeps one of several near-duplicates: each dropped one is similar to a kept one, and no two kept ones are', () => {
    let missed = 0
    for (let seed = 1; seed <= 20; seed++) {
      const signatures = families(seed)
      const order = Uint32Array.from({ length: signatures.size }, (_, index) => index)
      const keptInstead = findDuplicates(signatures, order, 0.8)
      const alike = (one: number, other: number) => agree(signatures.at(one), signatures.at(other), 103)
      const kept = [...order].filter((index) => keptInstead[index] === -1)
      for (const index of order) {
        const twin = keptInstead[index]!
        if (twin === -1) continue
        expect(keptInstead[twin]).toBe(-1)
        expect(alike(index, twin)).toBe(true)
      }
      expect(kept.length).toBeGreaterThanOrEqual(8)
      expect(kept.length).toBeLessThan(48)
      for (const one of kept) for (const other of kept) if (one < other && alike(one, other)) missed++
    }
    // Banding finds nearly every pair, not every one.
    expect(missed).toBeLessThanOrEqual(2)
  })

  it('handles no sequences, and keeps the first of equal ones', () => {
    expect(findDuplicates(new Signatures(), new Uint32Array(0), 0.8)).toHaveLength(0)
    const signatures = new Signatures()
    for (let index = 0; index < 5; index++) signatures.add({ question: 'q', sequence: makeSequence() })
    expect([...findDuplicates(signatures, Uint32Array.of(3, 0, 1, 4, 2), 1)]).toEqual([3, 3, 3, -1, 3])
  })
})
