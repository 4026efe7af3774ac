import { describe, expect, it } from 'vitest'
import { makeSequence } from '../../../test/filter/make-sequence.ts'
import { byteTokenizer, encodeStream } from '../../language/tokens/index.ts'
import { replayFrom, replayWeightAt } from './replay.ts'

const settings = { replay: 0.5, replay_sequences: 4, steps: 10, seed: 1 }
const sequences = Array.from({ length: 20 }, (_, at) =>
  makeSequence({ id: `s${at}`, question: `What is ${at}?` }),
)
const tokenizer = byteTokenizer()
const total = (weights: ArrayLike<number>): number => Array.from(weights).reduce((sum, each) => sum + each, 0)

describe('replay', () => {
  it('weights the mean loss over all replayed tokens, less in every step', () => {
    const replay = replayFrom(sequences, tokenizer, settings)
    for (const step of [1, 2, 10]) {
      const examples = replay(step)
      expect(examples.length).toBe(4)
      const sum = examples.reduce((all, { weights }) => all + total(weights), 0)
      expect(sum).toBeCloseTo(replayWeightAt(step, settings), 5)
    }
    expect(replayWeightAt(1, settings)).toBe(0.5)
    expect(replayWeightAt(10, settings)).toBeCloseTo(0.05)
    expect(replayWeightAt(11, settings)).toBe(0)
  })

  it('trains on the tokens that SFT trains on, and on no observation', () => {
    const [example] = replayFrom(sequences.slice(0, 1), tokenizer, settings)(1)
    const { ids, mask } = encodeStream(tokenizer, sequences[0]!)
    expect(Array.from(example!.tokens)).toEqual([...ids])
    expect(Array.from(example!.weights, (weight) => (weight > 0 ? 1 : 0))).toEqual([0, ...mask.subarray(1)])
    expect(mask.subarray(1).includes(0)).toBe(true)
  })

  it('chooses other sequences in other steps, and the same ones when a step is repeated', () => {
    const replay = replayFrom(sequences, tokenizer, settings)
    const tokens = (step: number): number[][] => replay(step).map((example) => Array.from(example.tokens))
    expect(tokens(1)).toEqual(tokens(1))
    expect(tokens(1)).not.toEqual(tokens(2))
  })

  it('says what is missing', () => {
    expect(() => replayFrom([], tokenizer, settings)).toThrow('has no selected sequences')
  })
})
