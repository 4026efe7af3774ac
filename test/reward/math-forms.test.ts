import { afterAll, describe, expect, it } from 'vitest'
import { checkAnswer, closeAlgebra } from '../../src/reward/index.ts'
import { writtenForms } from './math-forms.ts'
import { textForms } from './math-texts.ts'

afterAll(closeAlgebra)

describe.each(Object.entries({ ...writtenForms, ...textForms }))('answers of the kind %s', (_, forms) => {
  it('are decided as a careful reader would decide', async () => {
    expect(forms.length).toBeGreaterThanOrEqual(20)
    const mistakes: string[] = []
    for (const [gold, answer, isRight] of forms) {
      const { outcome, evidence } = await checkAnswer({ checker: 'math', answer: gold }, answer)
      if (outcome !== (isRight ? 'correct' : 'wrong')) mistakes.push(`${outcome}: ${evidence}`)
    }
    expect(mistakes).toEqual([])
  })
})

describe('a task may accept unevaluated answers', () => {
  it.each([
    ['2059', '17*144-389', 'correct'],
    ['2059', '17*144-388', 'wrong'],
    ['4', '\\sqrt{16}', 'correct'],
    ['4', '2+2', 'correct'],
    ['4', 'at4}', 'wrong'],
  ])('%s and %s: %s', async (answer, given, expected) => {
    const gold = { checker: 'math', answer, expressions: true } as const
    expect((await checkAnswer(gold, given)).outcome).toBe(expected)
  })
})

describe('the question', () => {
  it('determines whether a rounded number is expected', async () => {
    const check = async (gold: string, answer: string, question: string) =>
      (await checkAnswer({ checker: 'math', answer: gold }, answer, { question })).outcome
    expect(await check('33.33', '100/3', 'Round to the nearest hundredth.')).toBe('correct')
    expect(await check('33.33', '33.333333', 'Give it to two decimal places.')).toBe('correct')
    expect(await check('33.33', '33.34', 'Round to the nearest hundredth.')).toBe('wrong')
    expect(await check('33.33', '100/3', 'How much is it?')).toBe('undecided')
  })

  it('provides the text of a choice', async () => {
    const question = 'How many? A) 10 B) 12 C) 14'
    const outcome = async (answer: string) =>
      (await checkAnswer({ checker: 'math', answer: 'B' }, answer, { question })).outcome
    expect(await outcome('12')).toBe('correct')
    expect(await outcome('14')).toBe('wrong')
  })
})
