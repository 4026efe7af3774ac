import { describe, expect, it } from 'vitest'
import { fiveCalls, makeSequence, type Shape } from '../../../test/filter/make-sequence.ts'
import { builtinGrammars } from '../../language/grammar/index.ts'
import { byteTokenizer, encodeStream } from '../../language/tokens/index.ts'
import { ProjectConfig } from '../../pipeline/settings.ts'
import { type Stream, streamText } from '../../schema/index.ts'
import { correctionWeight, tooSimple, unreflected } from './decide.ts'
import { Defaults } from './defaults.ts'
import { type Examined, examine } from './examine.ts'
import { tooLong } from './length.ts'
import { poorQuality } from './quality.ts'
import { filterSettings } from './settings.ts'

const settingsWith = (filter: Record<string, unknown> = {}) =>
  new Defaults(filterSettings(ProjectConfig.parse({ filter })), new Map()).settingsFor('web')
const settings = settingsWith()

function examined(shape: Shape | Stream): Examined {
  const sequence = 'spans' in shape ? shape : makeSequence(shape)
  return examine(sequence, builtinGrammars.get(sequence.grammar))
}

describe('complexity', () => {
  it('needs five tool calls', () => {
    expect(tooSimple(examined({ calls: fiveCalls }), settings)).toBeUndefined()
    expect(tooSimple(examined({ calls: fiveCalls.slice(1) }), settings)).toEqual({
      reason: 'fewer than 5 tool calls',
      detail: '4',
    })
    expect(tooSimple(examined({ calls: [] }), settingsWith({ min_interactions: 0 }))).toBeUndefined()
  })

  it('has a minimum per suite', () => {
    const bySuite = settingsWith({ min_interactions_by_suite: { math: 3, 'odd=name': 1 } })
    const calls = ['a', 'b', 'c']
    expect(tooSimple(examined({ suite: 'math', calls }), bySuite)).toBeUndefined()
    expect(tooSimple(examined({ suite: 'search', calls }), bySuite)).toBeDefined()
    expect(tooSimple(examined({ suite: 'odd=name', calls: ['a'] }), bySuite)).toBeUndefined()
  })

  it('uses the grammar if the suite is unknown', () => {
    const { meta: _, ...rest } = makeSequence({ grammar: 'math' })
    expect(examined({ ...rest, meta: {} }).suite).toBe('math')
  })
})

describe('quality', () => {
  const reason = (shape: Shape | Stream, filter = {}) =>
    poorQuality(examined(shape), settingsWith(filter))?.reason

  it('keeps only correct answers', () => {
    expect(reason({})).toBeUndefined()
    expect(reason({ outcome: 'wrong' })).toBe('wrong answer')
    expect(reason({ outcome: 'undecided' })).toBe('undecided answer')
    expect(reason({ outcome: 'unchecked' })).toBe('unchecked')
    expect(reason({ outcome: 'unchecked' }, { unchecked: 'keep' })).toBeUndefined()
    expect(reason({ outcome: 'wrong' }, { unchecked: 'keep' })).toBe('wrong answer')
    expect(reason({ outcome: 'undecided' }, { unchecked: 'keep' })).toBe('undecided answer')
  })

  it('drops sequences distilled with problems', () => {
    const { sequence } = examined({})
    expect(reason({ ...sequence, meta: { ...sequence.meta, problems: ['no agent for calculator'] } })).toBe(
      'distilled with problems',
    )
    expect(reason({ ...sequence, meta: { ...sequence.meta, problems: [] } })).toBeUndefined()
  })

  it('drops sequences that saw the gold answer only on request', () => {
    expect(reason({ sawGold: true })).toBeUndefined()
    expect(reason({ sawGold: true }, { exclude_saw_gold: true })).toBe('saw the gold answer')
    expect(reason({}, { exclude_saw_gold: true })).toBeUndefined()
  })

  it('drops sequences that saw the gold answer and give it before any tool output', () => {
    // The answer of these sequences is 1923.
    const early = 'gives the answer before the work found it'
    expect(reason({ sawGold: true, thought: 'It must be 1923.' })).toBe(early)
    expect(reason({ sawGold: true, thought: 'It must be 1,923.' })).toBe(early)
    expect(reason({ sawGold: true, calls: ['lit in 1923', ...fiveCalls] })).toBe(early)
    for (const thought of ['It must be 19231.', 'It must be 1923.5.', 'Look it up.'])
      expect(reason({ sawGold: true, thought })).toBeUndefined()
    expect(reason({ sawGold: true, calls: [...fiveCalls, 'lit in 1923'] })).toBeUndefined()
    expect(reason({ sawGold: true, thought: 'Was it 1923?', question: '1922 or 1923?' })).toBeUndefined()
    // Who has not seen it may guess.
    expect(reason({ thought: 'It must be 1923.' })).toBeUndefined()
  })

  it('drops sequences with a rejected answer on the way only on request', () => {
    expect(reason({ verdicts: 1 })).toBeUndefined()
    expect(reason({ verdicts: 2 }, { exclude_verdicts: true })).toBe(
      'the checker rejected an answer on the way',
    )
    expect(reason({}, { exclude_verdicts: true })).toBeUndefined()
  })

  it('treats calls that differ in case or punctuation as equal', () => {
    const calls = ['Varnholm  light?', 'varnholm light', 'keeper', 'lamp', 'year']
    expect(reason({ calls })).toBe('repeated tool call')
    expect(reason({ calls }, { max_same_call: 2 })).toBeUndefined()
    expect(reason({ calls: [...calls, 'VARNHOLM LIGHT'] }, { max_same_call: 2 })).toBe('repeated tool call')
  })

  it('drops sequences with an unknown grammar', () => {
    expect(reason({ ...makeSequence(), grammar: 'nobody' })).toBe('unknown grammar')
  })

  it('finds malformed text, speakers out of turn and spans that disagree with the text', () => {
    const change = (edit: (spans: Stream['spans']) => void): Stream => {
      const sequence = structuredClone(makeSequence())
      edit(sequence.spans)
      return sequence
    }
    const replace = (index: number, from: string, to: string) =>
      change((spans) => {
        spans[index]!.text = spans[index]!.text.replace(from, to)
      })
    expect(reason(replace(0, '</think>', ''))).toBe('malformed chain')
    expect(reason(replace(0, 'Go on', 'Use <web_search>'))).toBe('malformed chain')
    expect(reason(change((spans) => void spans.splice(0, 1)))).toBe('speaker out of turn')
    expect(reason(change((spans) => void spans.pop()))).toBe('speaker out of turn')
    const observation = makeSequence().spans.findIndex(({ kind }) => kind === 'observation')
    const trained = change((spans) => {
      spans[observation]!.kind = 'role'
    })
    expect(reason(trained)).toBe('spans do not fit the text')
    const shifted = change((spans) => {
      spans[observation - 1]!.text += spans[observation]!.text.slice(0, 5)
      spans[observation]!.text = spans[observation]!.text.slice(5)
    })
    expect(reason(shifted)).toBe('spans do not fit the text')
    const joined = change((spans) => {
      const [first, second] = spans.splice(0, 2)
      spans.unshift({ ...first!, text: first!.text + second!.text })
    })
    expect(reason(joined)).toBe('spans do not fit the text')
  })
})

describe('reflection', () => {
  const reason = (shape: Shape, filter = {}) => unreflected(examined(shape), settingsWith(filter))?.reason

  it('is required in code and math, and an empty one does not count', () => {
    expect(reason({ grammar: 'math', reflection: 'It agrees.' })).toBeUndefined()
    expect(reason({ grammar: 'math' })).toBe('no reflection where it is required')
    expect(reason({ grammar: 'math', reflection: ' \n' })).toBe('no reflection where it is required')
    expect(reason({ grammar: 'web', suite: 'strict' }, { reflection_required: ['strict'] })).toBe(
      'no reflection where it is required',
    )
  })

  it('is not a repetition of the tool output', () => {
    // Each program of these sequences returns 1.
    expect(unreflected(examined({ grammar: 'math', reflection: 'The result is 1.' }), settings)).toEqual({
      reason: 'no reflection where it is required',
      detail: 'math: only repeats tool output',
    })
    expect(reason({ grammar: 'math', reflection: 'The result is 1, as it should be.' })).toBeUndefined()
  })

  it('downsamples the others at the configured rate, the same ones every time', () => {
    const kept = (share: number, seed = 1): string[] => {
      const thin = { ...settingsWith({ keep_unreflected: share }), seed }
      const sequence = makeSequence()
      return Array.from({ length: 4000 }, (_, index) => `s${index}`).filter(
        (id) => unreflected(examined({ ...sequence, id }), thin) === undefined,
      )
    }
    expect(kept(0)).toHaveLength(0)
    expect(kept(1)).toHaveLength(4000)
    const third = kept(0.3)
    // Four standard deviations of a sample of 4000.
    expect(Math.abs(third.length / 4000 - 0.3)).toBeLessThan(4 * Math.sqrt((0.3 * 0.7) / 4000))
    expect(kept(0.3)).toEqual(third)
    expect(kept(0.3, 2)).not.toEqual(third)
    const half = new Set(kept(0.5))
    expect(third.every((id) => half.has(id))).toBe(true)
    expect(reason({ reflection: 'It agrees.' }, { keep_unreflected: 0 })).toBeUndefined()
  })

  it('is not required of a grammar without a reflecting agent', () => {
    expect(reason({}, { keep_unreflected: 0, reflection_agents: ['critic'] })).toBeUndefined()
  })
})

describe('correction', () => {
  it.each([
    [['Score: 2', 'Score: 4'], 'correct', 2],
    [['Score: 1', 'Score: 4'], 'correct', 2],
    [['Score: 3'], 'correct', 1],
    [['Score: 4', 'Score: 1'], 'correct', 1],
    [['No idea.', 'Score: 1'], 'correct', 1],
    [['Score: 2', 'Score: 4'], 'wrong', 1],
  ] as const)('of checks %j with a %s answer weighs %i', (checks, outcome, weight) => {
    expect(correctionWeight(examined({ checks: [...checks], outcome }), settings)).toBe(weight)
  })

  it('follows its settings', () => {
    const shape = { checks: ['Score: 3', 'Score: 4'] }
    const generous = settingsWith({ low_score: 3, correction_weight: 5 })
    expect(correctionWeight(examined(shape), generous)).toBe(5)
    expect(correctionWeight(examined({ grammar: 'math' }), generous)).toBe(1)
  })
})

describe('length', () => {
  const tokenizer = byteTokenizer()
  const sequence = makeSequence()
  const texts = { messages: sequence.prompt.map(({ content }) => content), stream: streamText(sequence) }
  const reason = (filter: Record<string, number>) =>
    tooLong(
      texts,
      settingsWith({ max_tokens: 0, ...filter }),
      () => encodeStream(tokenizer, sequence).ids.length,
    )

  it('is exact in tokens and characters, on both sides of the limit', () => {
    const characters = [
      ...sequence.prompt.map(({ content }) => content),
      ...sequence.spans.map(({ text }) => text),
    ].join('').length
    expect(reason({ max_characters: characters })).toBeUndefined()
    expect(reason({ max_characters: characters - 1 })?.detail).toBe(`${characters}`)
    const tokens = Number(reason({ max_tokens: 1 })!.detail)
    expect(tokens).toBeGreaterThan(characters)
    expect(reason({ max_tokens: tokens })).toBeUndefined()
    expect(reason({ max_tokens: tokens - 1 })?.reason).toBe(`over ${tokens - 1} tokens`)
    expect(reason({})).toBeUndefined()
  })
})
