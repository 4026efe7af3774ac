import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lastBox } from './boxes.ts'
import { finalAnswer, markedAnswer, taggedAnswer } from './final-answer.ts'

describe('the answer in a text', () => {
  test.each([
    ['18', '18'],
    ['It is so.\nA: 18', '18'],
    ['SOLUTION_FOUND: 100', '100'],
    ['So $x = \\boxed{5}$.', '5'],
    ['-\\boxed{256}', '-256'],
    ['9 - \\boxed{4}', '4'],
    ['\\boxed{3} and \\boxed{4}', '3, 4'],
    ['\\boxed{3}, then \\boxed{4}', '4'],
    ['first \\boxed{\\frac{a}{b}}, cut off: \\boxed{\\frac{1', '\\frac{a}{b}'],
    ['She has 3. #### 3', '3'],
    ['#### Step 4: add\nThe answer is 7.', '7'],
    ['The answer is $18$. I hope it is correct.', '$18$'],
    ['The answer is 3.5 cm. Done.', '3.5 cm'],
    ['The answer is:\n$$\\frac{1}{2}$$\nas said.', '\\frac{1}{2}'],
    ['<think>5?</think>\nThe answer is 6.', '6'],
    ['<answer>7</answer><|im_end|>', '7'],
    ['A: 18\n\nQ: And 3 + 4?\nA: 7', '18'],
    ['It is 5.\n\nLet me know if you have questions!', 'It is 5.'],
    ['264}', '264'],
    ['', ''],
  ])('%j is %j', (text, expected) => {
    expect(finalAnswer(text)).toBe(expected)
  })

  test('is undefined if no part is marked, for checkers that then use the whole text', () => {
    expect(markedAnswer('Rome\nParis')).toBeUndefined()
    expect(markedAnswer('The answer is Paris.')).toBe('Paris')
    expect(markedAnswer('<answer>Paris</answer>')).toBe('Paris')
  })

  test('in a tag may be truncated', () => {
    expect(taggedAnswer('<answer>1</answer> <answer>2', 'answer')).toBe('2')
    expect(taggedAnswer('none', 'answer')).toBeUndefined()
  })

  test('extraction is idempotent', () => {
    const word = fc.constantFrom('5', '\\frac{1}{2}', 'x+1', '(1, 2)', '3 cm', '-4')
    const around = fc.constantFrom(
      (answer: string) => `We get \\boxed{${answer}}.`,
      (answer: string) => `The answer is ${answer}.`,
      (answer: string) => `#### ${answer}`,
      (answer: string) => `<answer>${answer}</answer>`,
      (answer: string) => `Let us see.\nA: ${answer}`,
    )
    fc.assert(
      fc.property(word, around, fc.lorem({ mode: 'sentences', maxCount: 3 }), (answer, write, prose) => {
        expect(finalAnswer(`${prose}\n${write(answer)}`)).toBe(answer)
        expect(finalAnswer(answer)).toBe(answer)
      }),
    )
  })

  test('finds a box with nested braces', () => {
    expect(lastBox('\\boxed{1} then \\boxed{\\frac{a}{b}}.')).toBe('\\frac{a}{b}')
    expect(lastBox('\\boxed{open')).toBeUndefined()
    expect(lastBox('none')).toBeUndefined()
  })
})
