import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkAnswer, normalizeText, tokenF1 } from '../../src/reward/index.ts'

const outcome = async (answers: string[], answer: string | undefined): Promise<string> =>
  (await checkAnswer({ checker: 'exact', answers }, answer)).outcome

describe('exact match', () => {
  it.each<[string[], string, 'correct' | 'wrong']>([
    [['Beijing'], 'beijing', 'correct'],
    [['Beijing'], ' The Beijing. ', 'correct'],
    [['The Beatles'], 'Beatles', 'correct'],
    [['Beijing'], 'Shanghai', 'wrong'],
    [['Beijing'], 'Beijing Shanghai', 'wrong'],
    [['Beijing'], 'Beijing|Shanghai', 'wrong'],
    [['Beijing'], 'Shanghai|Beijing', 'wrong'],
    [['Beijing', 'Shanghai'], 'Beijing|Shanghai', 'correct'],
    [['Beijing', 'Peking'], 'Peking', 'correct'],
    [['Beijing|Shanghai'], 'Shanghai | Beijing', 'correct'],
    [['Beijing|Shanghai'], 'Beijing', 'wrong'],
    [['Beijing'], 'Beijing|', 'correct'],
    [['yes'], 'Yes!', 'correct'],
    [['Ｆｕｌｌ'], 'full', 'correct'],
    [['3.5'], '35', 'wrong'],
    [['-5'], '5', 'wrong'],
    [['1,000'], '1000', 'correct'],
    [['C'], 'C++', 'wrong'],
    [['C++'], 'c++', 'correct'],
    [['C#'], 'C', 'wrong'],
    [['+'], '-', 'wrong'],
    [['+'], '+', 'correct'],
    [['A'], 'The', 'wrong'],
    [['New York'], 'new-york', 'wrong'],
    [['O’Neill'], "o'neill", 'correct'],
    [['Paris'], 'The answer is Paris.', 'correct'],
    [['Paris'], 'Rome is old, but so is Paris.\nAnswer: Paris', 'correct'],
    [['Paris'], '<answer>Paris</answer>', 'correct'],
    [['Paris'], '\\boxed{Paris}', 'correct'],
    [['Paris'], 'The answer is Rome.', 'wrong'],
    [['Paris'], 'Rome\nParis', 'wrong'],
  ])('%j and %j: %s', async (answers, answer, expected) => {
    expect(await outcome(answers, answer)).toBe(expected)
  })

  it('treats a missing answer as wrong', async () => {
    expect(await checkAnswer({ checker: 'exact', answers: ['x'] }, undefined)).toMatchObject({
      outcome: 'wrong',
      evidence: 'there is no answer',
    })
    expect(await outcome(['x'], ' \n')).toBe('wrong')
    expect(await outcome(['x'], '|')).toBe('wrong')
  })

  it('depends on the parts of an answer, not on their order', async () => {
    const word = fc.constantFrom('rome', 'paris', 'oslo', 'the hague')
    await fc.assert(
      fc.asyncProperty(
        fc.array(word, { minLength: 1 }),
        fc.array(word, { minLength: 1 }),
        async (golds, parts) => {
          const expected = parts.every((part) => golds.includes(part)) ? 'correct' : 'wrong'
          expect(await outcome(golds, parts.join('|'))).toBe(expected)
          expect(await outcome(golds, parts.toReversed().join(' | '))).toBe(expected)
        },
      ),
      { numRuns: 10_000 },
    )
  })

  it('normalization is idempotent and never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(normalizeText(normalizeText(text))).toBe(normalizeText(text))
      }),
      { numRuns: 10_000 },
    )
  })
})

describe('F1', () => {
  it.each([
    ['the cat sat', 'cat sat', 1],
    ['cat sat', 'cat', 2 / 3],
    ['cat', 'cat cat', 2 / 3],
    ['cat cat', 'cat', 2 / 3],
    ['cat', 'dog', 0],
    ['the', 'a', 1],
    ['cat', '', 0],
  ])('of %j and %j is %d', (gold, answer, expected) => {
    expect(tokenF1(gold, answer)).toBeCloseTo(expected)
  })

  it('is the score of a non-matching answer', async () => {
    const checked = await checkAnswer({ checker: 'exact', answers: ['Paris, France', 'Lyon'] }, 'Paris')
    expect(checked).toMatchObject({ outcome: 'wrong', score: 2 / 3 })
  })

  it('is symmetric and between 0 and 1', () => {
    const text = fc.array(fc.constantFrom('cat', 'dog', 'sat', 'on', 'mat')).map((words) => words.join(' '))
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(tokenF1(a, b)).toBeCloseTo(tokenF1(b, a))
        expect(tokenF1(a, b)).toBeGreaterThanOrEqual(0)
        expect(tokenF1(a, b)).toBeLessThanOrEqual(1)
        expect(tokenF1(a, a)).toBe(1)
      }),
      { numRuns: 10_000 },
    )
  })
})
