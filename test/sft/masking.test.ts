import { beforeEach, describe, expect, it } from 'vitest'
import { openCheckpoint, openEmbedded } from '../../src/engine/index.ts'
import { openTokenizer, type Tokenizer } from '../../src/language/tokens/index.ts'
import type { Stream } from '../../src/schema/index.ts'
import { type Example, exampleOf } from '../../src/stages/sft/gather.ts'
import { takeStep } from '../../src/stages/sft/optimizer-step.ts'
import { temporaryFolder } from '../store/support/temporary-folder.ts'
import { sumSequence, tinyModel } from './support.ts'

let folder: string
let model: string
let tokenizer: Tokenizer

beforeEach(async () => {
  folder = temporaryFolder()
  model = await tinyModel(folder)
  tokenizer = await openTokenizer(model)
})

function example(sequence: Stream, maskObservations = true): Example {
  const options = { tokenizer, limits: { vocabularySize: 0 }, maskObservations, date: new Date(0) }
  const made = exampleOf({ sequence, weight: 1 }, options)
  if ('reason' in made) throw new Error(made.reason)
  return made
}

/** With such a large epsilon the first update is nearly the gradient itself, and rounding errors are not magnified. */
const adam = { learningRate: 1, epsilon: 1 }

/** The weights after one step on some examples, always from the same initial weights. */
async function afterOneStep(
  examples: Example[],
  microBatchTokens?: number,
): Promise<Map<string, Float32Array>> {
  const engine = await openEmbedded({ model, threads: 1 })
  try {
    await takeStep(engine, examples, adam, microBatchTokens === undefined ? {} : { microBatchTokens })
    await engine.save(`${folder}/after`, { stage: 'sft', step: 1, createdAt: '2026-01-02T03:04:05.000Z' })
  } finally {
    await engine.close()
  }
  const { weights } = openCheckpoint(`${folder}/after`)
  return new Map([...weights].map(([name, { values }]) => [name, values as Float32Array]))
}

function largestDifference(one: Map<string, Float32Array>, other: Map<string, Float32Array>): number {
  let largest = 0
  for (const [name, values] of one)
    for (const [at, value] of values.entries())
      largest = Math.max(largest, Math.abs(value - other.get(name)![at]!))
  return largest
}

/** The observation comes last and its last letter differs: no trained token follows it. */
function endingWith(letter: string, maskObservations: boolean): Example {
  const { spans, ...rest } = sumSequence(4)
  const last = { ...spans[2]!, text: `\n<observation>11${letter}` }
  const made = example({ ...rest, spans: [...spans.slice(0, 2), last] }, maskObservations)
  // Without the end-of-text token, which is trained on and comes after the letter.
  const end = made.tokens.length - 1
  return { ...made, tokens: made.tokens.slice(0, end), learned: made.learned.slice(0, end) }
}

describe('tool output', () => {
  it('does not influence training, to the last bit', async () => {
    const [one, other] = [endingWith('a', true), endingWith('b', true)]
    expect(one.tokens.at(-1)).not.toBe(other.tokens.at(-1))
    expect(one.learned.at(-1)).toBe(0)
    const [after, afterOther] = [await afterOneStep([one]), await afterOneStep([other])]
    expect(afterOther).toEqual(after)
    const start = openCheckpoint(model).weights
    const moved = [...start].filter(([name, { values }]) => String(values) !== String(after.get(name)))
    expect(moved.length).toBe(start.size)
  })

  it('influences training if observations are not masked', async () => {
    const [one, other] = [endingWith('a', false), endingWith('b', false)]
    expect(one.learned.at(-1)).toBe(1)
    const difference = largestDifference(await afterOneStep([one]), await afterOneStep([other]))
    expect(difference).toBeGreaterThan(1e-3)
  })

  it('has weights of exactly 0, like the prompt, and everything else 1', () => {
    const sequence = sumSequence(4)
    const { tokens, learned, learnedTokens } = example(sequence)
    const observed = tokenizer.encodeIds(sequence.spans[2]!.text).length
    const written = sequence.spans.filter(({ kind }) => kind !== 'observation')
    const own = written.reduce((sum, { text }) => sum + tokenizer.encodeIds(text).length, 0)
    expect(learnedTokens).toBe(own + 1)
    const open = example(sequence, false)
    expect(open.learnedTokens).toBe(own + observed + 1)
    const prompt = tokens.length - own - observed - 1
    expect(prompt).toBeGreaterThan(5)
    for (const each of [learned, open.learned])
      expect([...each.slice(0, prompt)]).toEqual(Array(prompt).fill(0))
    const text = tokenizer.decode(tokens.filter((_, at) => learned[at] === 0))
    expect(text.endsWith(sequence.spans[2]!.text)).toBe(true)
  })
})

describe('a step', () => {
  const many = (): Example[] => Array.from({ length: 9 }, (_, number) => example(sumSequence(number)))

  it('gives a sequence the same loss and gradient regardless of the rest of the batch', async () => {
    const engine = await openEmbedded({ model, threads: 1 })
    const alone = await Promise.all(
      many().map(async ({ tokens, learned }) => {
        const { logprobs } = await engine.forward([{ tokens, weights: learned }])
        return logprobs[0]!
      }),
    )
    const together = await engine.forward(many().map(({ tokens, learned }) => ({ tokens, weights: learned })))
    await engine.close()
    for (const [index, values] of together.logprobs.entries())
      for (const [at, value] of values.entries()) expect(value).toBeCloseTo(alone[index]![at]!, 4)
    // Neighbors with zero weight: the step is that of the first example alone.
    const [first, ...rest] = many()
    const silent = rest.map((each) => ({ ...each, learned: new Uint8Array(each.tokens.length) }))
    const difference = largestDifference(
      await afterOneStep([first!]),
      await afterOneStep([first!, ...silent]),
    )
    expect(difference).toBeLessThan(1e-6)
  })

  it('is the same in one packed micro-batch and in one micro-batch per example', async () => {
    const difference = largestDifference(await afterOneStep(many()), await afterOneStep(many(), 1))
    expect(difference).toBeLessThan(1e-6)
  })
})
