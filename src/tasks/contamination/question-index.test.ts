import { describe, expect, it } from 'vitest'
import { QuestionIndex } from './question-index.ts'

const twelve = 'one two three four five six seven eight nine ten eleven twelve'

function against(...questions: string[]): QuestionIndex {
  const set = new QuestionIndex(8)
  for (const question of questions) set.add('held-out', question, false)
  return set
}
const share = (set: QuestionIndex, question: string): number => set.nearest(question)?.share ?? 0

describe('QuestionIndex', () => {
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
    const set = new QuestionIndex(8)
    set.add('suite', twelve, true)
    expect(share(set, `${twelve} x`)).toBe(0)
    expect(share(set, `${twelve}?`)).toBe(1)
  })

  it('does not match a short phrase', () => {
    expect(share(against('How many are left?'), `${twelve} How many are left?`)).toBe(0)
  })

  it('names the source with the largest overlap', () => {
    const set = against('something else entirely, of no fewer than eight words')
    set.add('other', twelve, false)
    expect(set.nearest(`${twelve} x`)?.source).toBe('other')
    expect(new QuestionIndex(8).nearest(twelve)).toBeUndefined()
  })
})
