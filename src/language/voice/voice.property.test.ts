import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { howMany } from '../../../test/how-many.ts'
import { builtinRules, codeRanges, Voices } from './index.ts'

const team = ['planner', 'coder', 'searcher', 'critic', 'verifier', 'solver_2']
const voice = new Voices().of(team, 'How much is it?')

const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...builtinRules.map(({ example }) => example[0])) },
  fc.constantFrom('```py\ncoder reports: print(81)\n```', '~~~\n@coder 7', '`As the planner, 3`', '```', '`'),
  fc.constantFrom(
    'TERMI',
    'NATE',
    'TERMINATE',
    'As the ',
    'planner, ',
    'solver_2 ',
    ' 17',
    '4',
    '@',
    'coder',
    'I will ',
  ),
  fc.constantFrom(' ', '\n', '. ', ': ', ', ', '12', '3.5', '٣'),
  fc.string({ maxLength: 6 }),
)
const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''))

const codeOf = (from: string): string[] => codeRanges(from).map(({ start, end }) => from.slice(start, end))
/** All digits, apart from those of a runtime's wrapper and of names. */
const digitsOf = (from: string): string =>
  from
    .replace(/exitcode: \d{1,6} \(execution/gi, '')
    .replace(/solver[ _-]?2/gi, '')
    .replace(/[^\p{N}]/gu, '')

describe('voice rules', () => {
  it('never change code or digits, and a second time changes nothing', () => {
    fc.assert(
      fc.property(text, (before) => {
        const { text: after, rules } = voice.rewrite(before)
        expect(codeOf(after)).toEqual(codeOf(before))
        expect(digitsOf(after)).toBe(digitsOf(before))
        if (rules.size === 0) expect(after).toBe(before)
        expect(voice.rewrite(after).text).toBe(after)
      }),
      { numRuns: howMany(10_000) },
    )
  })

  // In quadratic time, this would take minutes; in linear time it takes a few hundredths of a second.
  it.each([
    ...builtinRules.map(({ example }) => example[0]),
    ' ',
    '\n',
    '`',
    '```',
    'coder',
    'the coder ',
    'I will pass ',
    'Next speaker: ',
    'exitcode: 0 (',
    'please reply with TERMINATE or ',
    'As the ',
    '"TERMINATE',
    '1. ',
    'TERMINATE\n',
    'coder: \n',
  ])('take linear time on many times %j', (one) => {
    const hostile = one.repeat(Math.ceil(400_000 / one.length))
    const before = process.threadCpuUsage()
    voice.rewrite(hostile)
    const { user, system } = process.threadCpuUsage(before)
    expect((user + system) / 1e6).toBeLessThan(3)
  })
})
