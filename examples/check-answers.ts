/** Is an answer correct? Numbers are compared by value; an unevaluated expression is wrong. */
import assert from 'node:assert/strict'
import { checkAnswer } from 'chain-of-agents'

const gold = { checker: 'math', answer: '3/4' } as const
const outcomes = await Promise.all(
  ['0.75', 'The answer is \\boxed{\\frac{3}{4}}.', '6/8', '0.7', '1 - 1/4', 'about'].map(async (answer) => {
    const { outcome, evidence } = await checkAnswer(gold, answer)
    console.log(`${answer}: ${outcome} (${evidence})`)
    return outcome
  }),
)

assert.deepEqual(outcomes, ['correct', 'correct', 'correct', 'wrong', 'wrong', 'wrong'])
