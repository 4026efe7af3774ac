import type { Random } from '../../../../base/random/index.ts'
import type { Draft, Family, Json, ValueType } from '../draft.ts'
import { makers, sampleStages } from '../extend.ts'
import { ints, word, words } from '../inputs.ts'
import { brokenChains, chainVersion, type Link, link, stepsOf } from '../pipeline.ts'
import { intsResults } from '../stages/ints-results.ts'
import { numberResults } from '../stages/numbers.ts'
import { wordResults } from '../stages/words.ts'

interface Pipeline {
  entry: string
  parameter: { name: string; type: ValueType }
  opening: string
  stages: readonly Link[]
  result: { stage: Link; type: ValueType } | undefined
  input: Draft['input']
  edges: Json[][]
}

function draftOf({ entry, parameter, opening, stages, result, input, edges }: Pipeline): Draft {
  const chain = result === undefined ? stages : [...stages, result.stage]
  const broken = brokenChains(chain, 0, stages.length)
  const noun = { ints: 'the list', strs: 'the list', str: 'the text', int: 'the number' }[
    parameter.type as 'ints'
  ]
  return {
    ...{ entry, parameters: [parameter], returns: result?.type ?? parameter.type, input, edges },
    spec: [
      opening,
      `${result === undefined ? `Do the following, in this order, and return ${noun} that comes out.` : 'Do the following, in this order.'}\n${stepsOf(chain)}`,
    ],
    right: chainVersion(parameter.name, chain),
    mistakes: broken.map(({ text, chain: steps }) => ({ ...chainVersion(parameter.name, steps), text })),
    needed: broken
      .filter(({ isOmission }) => isOmission)
      .map(({ chain: steps }) => chainVersion(parameter.name, steps)),
    stages: chain.map(({ name }) => name),
  }
}

/** One stage at level 1, up to five or six at level 5. */
const countFor = (random: Random, level: number): number => level + (random.chance(0.4) ? 1 : 0)

const numberList: Family = {
  name: 'number-list',
  levels: [1, 5],
  grows: true,
  draft(random, level) {
    const stage = link(random.pick(intsResults)(random))
    return draftOf({
      ...{ entry: 'process', parameter: { name: 'values', type: 'ints' } },
      opening: 'You are given a list of integers.',
      stages: sampleStages(random, makers.ints, countFor(random, level)),
      result: random.chance(0.6) ? { stage, type: 'int' } : undefined,
      input: (draw, size) => [ints(draw, size + draw.int(0, 3), -15, 40)],
      edges: [[[]], [[7]], [[5, 5, -3, 5]]],
    })
  },
}

const textLine: Family = {
  name: 'text-line',
  levels: [1, 5],
  grows: true,
  draft: (random, level) =>
    draftOf({
      ...{ entry: 'change_text', parameter: { name: 'text', type: 'str' } },
      opening: 'You are given a text of ASCII letters and single spaces.',
      stages: sampleStages(random, makers.str, countFor(random, level)),
      result: undefined,
      input: (draw, size) => [
        words(draw, Math.ceil(size / 2), 1, 6)
          .map((text) => (draw.chance(0.3) ? text[0]!.toUpperCase() + text.slice(1) : text))
          .join(' ') + word(draw, size % 2, 'aAesS'),
      ],
      edges: [[''], ['a'], ['Aa bb'], ['Sea stars see oats']],
    }),
}

const wordList: Family = {
  name: 'word-list',
  levels: [1, 5],
  grows: true,
  draft(random, level) {
    const result = random.pick([
      { stage: link(wordResults.joined(random)), type: 'str' as const },
      { stage: link(wordResults.longest(random)), type: 'str' as const },
      { stage: link(wordResults.totalLength(random)), type: 'int' as const },
      undefined,
    ])
    return draftOf({
      ...{ entry: 'process_words', parameter: { name: 'words', type: 'strs' } },
      opening: 'You are given a list of strings of lower-case letters, none of them empty.',
      stages: sampleStages(random, makers.strs, countFor(random, level)),
      ...{ result, input: (draw, size) => [repeating(draw, words(draw, size, 2, 7))] },
      edges: [[[]], [['tree']], [['on', 'tea', 'on', 'ate']]],
    })
  },
}

/** Repeats some words, so that duplicates and ties occur. */
const repeating = (draw: Random, list: string[]): string[] =>
  list.flatMap((text) => (draw.chance(0.25) ? [text, draw.pick(list)] : [text]))

const singleNumber: Family = {
  name: 'single-number',
  levels: [1, 4],
  grows: true,
  draft: (random, level) =>
    draftOf({
      ...{ entry: 'transform', parameter: { name: 'n', type: 'int' } },
      opening: 'You are given an integer n; it can be negative.',
      stages: sampleStages(random, makers.int, Math.min(level + 1, 4)),
      result: random.chance(0.4) ? { stage: link(numberResults.binary(random)), type: 'str' } : undefined,
      input: (draw, size) => [draw.int(-(10 ** Math.min(size, 5)), 10 ** Math.min(size, 6))],
      edges: [[0], [-1], [999]],
    }),
}

export const pipelineFamilies = [numberList, textLine, wordList, singleNumber]
