import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Contribution } from '../../schema/index.ts'
import { readReply, scoreOf, writeReply } from './reply.ts'

const words = fc.stringMatching(/^[a-zA-Z0-9.,;()\n ]*$/).map((text) => text.trim())

describe('replies', () => {
  it('parse back to what was written', () => {
    fc.assert(
      fc.property(words, fc.constantFrom(...Contribution.options), words, (thought, as, text) => {
        fc.pre(text !== '')
        const reply = { thought, as, text, ...(as === 'task' ? { to: 'searcher' } : {}) }
        expect(readReply(writeReply(reply), [as])).toEqual(reply)
      }),
      { numRuns: 5000 },
    )
  })

  it.each([
    ['I would search for it.', 'there is no <task>'],
    ['<plan>Search.</plan>', '<plan> is not expected here'],
    ['<task for="searcher"> </task>', '<task> is empty'],
    ['<task>Search.</task>', 'does not say which agent'],
  ])('%j is rejected with a reason', (text, reason) => {
    expect(readReply(text, ['task'])).toContain(reason)
  })

  it('never throws', () => {
    fc.assert(fc.property(fc.string(), (text) => void readReply(text, ['task', 'suggestion'])))
  })

  it.each([
    ['It fits.\nScore: 4', 4],
    ['The score this time is:2', 2],
    ['score = 3 of 4', 3],
    ['It fits.', undefined],
  ])('the score in %j is %j', (text, score) => {
    expect(scoreOf(text)).toBe(score)
  })
})
