import { describe, expect, it } from 'vitest'
import { contaminated, EvalQuestions } from './contamination.ts'

const twelve = 'one two three four five six seven eight nine ten eleven twelve'

function against(...questions: string[]): EvalQuestions {
  const set = new EvalQuestions(8)
  for (const question of questions) set.add('held-out', question)
  return set
}
const share = (set: EvalQuestions, question: string): number => set.overlap(question)?.share ?? 0

describe('EvalQuestions', () => {
  it('recognizes a question regardless of case, punctuation and Unicode form', () => {
    const set = against('Who lit the Ｓkarn Light – and when?')
    expect(share(set, 'who lit the skarn light and WHEN')).toBe(1)
    expect(share(set, 'who lit the skarn light')).toBe(0)
  })

  it('distinguishes arithmetic operators', () => {
    expect(share(against('What is 3 + 4?'), 'What is 3 - 4?')).toBe(0)
    expect(share(against('What is 3 + 4?'), 'what is 3+4')).toBe(1)
  })

  it('measures shared 8-grams relative to the shorter question', () => {
    const set = against(twelve)
    // Five n-grams, of which a change in the first word breaks one, and in the middle all.
    expect(share(set, twelve.replace('one', 'zero'))).toBeCloseTo(4 / 5)
    expect(share(set, twelve.replace('six', 'zero'))).toBe(0)
    expect(share(set, `Answer briefly. ${twelve} Write the answer on a line of its own.`)).toBe(1)
    expect(share(set, twelve.split(' ').slice(0, 9).join(' '))).toBe(1)
  })

  it('compares with one question at a time', () => {
    const [first, second] = ['alpha beta gamma delta', 'epsilon zeta eta theta']
    const [one, other] = [`${first} ${twelve}`, `${twelve} ${second}`]
    const joined = `${first} ${twelve} ${second}`
    // Each has nine of the thirteen n-grams, together all; what counts is that one is contained in the joined
    // question.
    expect(share(against(one, other), joined)).toBe(1)
    expect(share(against(`${one} x y z`, `x y z ${other}`), joined)).toBeCloseTo(9 / 12)
  })

  it('matches only whole questions if asked to', () => {
    const set = new EvalQuestions(8)
    set.add('suite', twelve, { wholeOnly: true })
    expect(share(set, `${twelve} x`)).toBe(0)
    expect(share(set, `${twelve}?`)).toBe(1)
  })

  it('does not match a short phrase', () => {
    expect(share(against('How many are left?'), `${twelve} How many are left?`)).toBe(0)
  })

  it('names the source with the largest overlap, and changes its digest with every question', () => {
    const set = against('something else entirely, of no fewer than eight words')
    const before = set.digest()
    set.add('other', twelve)
    expect(set.digest()).not.toBe(before)
    expect(set.digest()).toBe(set.digest())
    expect(set.overlap(`${twelve} x`)?.source).toBe('other')
    expect(new EvalQuestions(8).overlap(twelve)).toBeUndefined()
  })
})

it('drops from the configured share on, without revealing the question', () => {
  const set = against(twelve)
  const question = twelve.replace('one', 'zero')
  expect(contaminated(question, set, { overlap_share: 0.8 })).toEqual({
    reason: 'question is in held-out',
    detail: '80% overlap',
  })
  expect(contaminated(question, set, { overlap_share: 0.81 })).toBeUndefined()
})
