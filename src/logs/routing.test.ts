import { describe, expect, it } from 'vitest'
import { endsWork, markedAnswer, withoutRouting } from './routing.ts'

describe('routing words', () => {
  it.each([
    ['TERMINATE', ''],
    ['The sum is 81.\n\nTERMINATE', 'The sum is 81.'],
    ['The sum is 81. **TERMINATE**', 'The sum is 81.'],
    ['Run it. SUGGESTED NEXT SPEAKER: Agent Code Executor.', 'Run it.'],
    ['SUGGESTED NEXT SPEAKER: coder\nThe sum is 81.', 'The sum is 81.'],
    ['**SOLUTION_FOUND \\boxed{81}**', '**\\boxed{81}**'],
    ['Reply TERMINATE when the work is done.', 'Reply TERMINATE when the work is done.'],
  ])('are cut from %j', (text, rest) => {
    expect(withoutRouting(text)).toBe(rest)
  })

  it.each([
    ['I add.\n\nFinal answer: **81**\n\nTERMINATE', '81'],
    ['SOLUTION_FOUND: \\boxed{81}', '\\boxed{81}'],
    ['The final answer is 81 because of the sum.', 'The final answer is 81 because of the sum.'],
    ['I add.\n\n**Final Answer:**\n81', '81'],
    ['It is **81** and **9**. TERMINATE', 'It is **81** and **9**.'],
  ])('mark the answer of %j', (text, answer) => {
    expect(markedAnswer(text)).toBe(answer)
  })

  it('end the work', () => {
    expect(['It is 81. TERMINATE', 'SOLUTION_FOUND: 81', 'Go on.'].map(endsWork)).toEqual([true, true, false])
  })
})
