import { describe, expect, it } from 'vitest'
import { makeSequence, type Shape } from '../../../test/filter/make-sequence.ts'
import { builtinGrammars } from '../../language/grammar/index.ts'
import type { Stream } from '../../schema/index.ts'
import { examine } from './examine.ts'
import { speaksOfHelp, speaksToTeam } from './voice.ts'

const grammar = builtinGrammars.get('web')
const team = ['planner', 'coder', 'searcher', 'critic', 'verifier', 'solver_a']
const reason = (thought: string, question?: string): string | undefined => {
  const sequence = makeSequence({ thought, ...(question === undefined ? {} : { question }) })
  return speaksToTeam(examine(sequence, grammar), team)?.reason
}

describe('the voice filter', () => {
  it.each([
    ['The critic asked for another source.', 'the critic asked'],
    ['I rely on the coder.', undefined],
    ["The coder's loop is wrong.", "the coder's"],
    ['Next, ask the searcher.', 'ask the searcher'],
    ['As the planner I decide.', 'as the planner'],
    ['Solver A agrees.', 'solver a agrees'],
    ['Coder: done.', 'coder:'],
    ['You asked me for the year.', 'you asked me'],
    ['As you requested, here is the year.', 'as you requested'],
    ['NEXT SPEAKER: nobody', 'next speaker'],
    ['{"next_speaker": "x"}', 'next_speaker'],
    ['Our team needs the year.', 'our team'],
    ['The other agents know the year.', 'other agents'],
    ['Handing off to someone else.', 'handing off to'],
    ['The year is 1923.\nTERMINATE', 'terminate'],
  ])('%j: %j', (thought, found) => {
    expect(reason(thought)).toBe(found === undefined ? undefined : `speaks to a team: "${found}"`)
  })

  it.each([
    ['The team won our hearts: its members of 1923 played as a team.', 'Which team won in 1923?'],
    ['Our team is the one from Varnholm.', 'Which teams played?'],
    ['The critic said that the film is dull.', 'Which film critic wrote that?'],
    ['The user asked for the year.', undefined],
    ['The team that won in 1923 came from Varnholm.', undefined],
    ['Use `ask the coder` as the query.', undefined],
    ['The coder and the planner are two films.', undefined],
    ['A planner can be bought for 3 dollars; the search will terminate.', 'How much is a planner?'],
  ])('does not mind %j', (thought, question) => expect(reason(thought, question)).toBeUndefined())

  it('looks only at roles', () => {
    const sequence = makeSequence()
    const changed: Stream = {
      ...sequence,
      spans: sequence.spans.map((span) =>
        span.kind === 'role'
          ? span
          : {
              ...span,
              text: span.text.replace(/(?=<.web_search|<.observation)/, ' You asked me. The critic said so.'),
            },
      ),
    }
    expect(speaksToTeam(examine(changed, grammar), team)).toBeUndefined()
  })

  it('shows the text around', () => {
    const sequence = makeSequence({
      thought: 'The lamp is electric, but the critic asked for a second page.',
    })
    expect(speaksToTeam(examine(sequence, grammar), team)?.detail).toContain(
      'think: The lamp is electric, but the critic asked for a second page.',
    )
  })
})

describe('a sequence of a team that had help', () => {
  const helped = (shape: Shape) => speaksOfHelp(examine(makeSequence(shape), grammar))?.reason

  it.each([
    ['The hint says 81.', 'hint'],
    ['As in the Reference  solution, add first.', undefined],
    ['As in the Reference solution, add first.', 'reference solution'],
    ['The provided answer is 81.', 'provided answer'],
    ['I was told that it is wrong.', 'i was told'],
    ['The checker rejected it.', 'the checker'],
    ['The solution is 81, which is the correct answer.', undefined],
    ['They were told to wait.', undefined],
  ])('speaks of it or not: %s', (thought, found) => {
    const expected = found === undefined ? undefined : `speaks of a hint or verdict: "${found}"`
    expect(helped({ thought, sawGold: true })).toBe(expected)
    expect(helped({ thought, verdicts: 1 })).toBe(expected)
    // Without help, these are words like others.
    expect(helped({ thought })).toBeUndefined()
  })

  it('may not speak of it in a call either, but may repeat the question', () => {
    const [, ...rest] = ['', 'lamp', 'keeper', 'year', 'light']
    expect(helped({ calls: ['year as in the hint', ...rest], sawGold: true })).toContain('hint')
    const question = 'Which hint did the keeper give?'
    expect(helped({ question, thought: 'I look for the hint.', sawGold: true })).toBeUndefined()
  })
})
