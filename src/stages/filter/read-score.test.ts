import { expect, it } from 'vitest'
import { readScore } from './read-score.ts'

it.each([
  ['The score this time is:4', 4],
  ['Score: 2', 2],
  ['2/4', 2],
  ['I give this 3 out of 4.', 3],
  ['**Score (1-4):** 3', 3],
  ['**Score:** 1', 1],
  ['score = 2.5', 2.5],
  ['Score: 3/4', 3],
  ['The answer deserves a score of 2.', 2],
  ['I scored it 1 because no page says so.', 1],
  ['On a scale from 1 to 4, the score is: 2', 2],
  ['Score: 2. A score of 4 would need a second source.', 2],
  ['First I thought score: 4, but now score: 1', 1],
  ['The score this time is:4\n', 4],
  ['score it from 1 to 4', undefined],
  ['Score: 7/10', undefined],
  ['Score: 10', undefined],
  ['Score: 0', undefined],
  ['It happened on 2/4/2021.', undefined],
  ['The match ended 3 to 2.', undefined],
  ['The team scored often.', undefined],
  ['', undefined],
])('%j is %s', (text, score) => expect(readScore(text)).toBe(score))

it('terminates on adversarial text', () => {
  expect(readScore('score ('.repeat(50_000))).toBeUndefined()
  expect(readScore('1 out of '.repeat(50_000))).toBeUndefined()
})
