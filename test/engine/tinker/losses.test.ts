import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Loss, type LossContract, normalized, type TrainingExample } from '../../../src/engine/index.ts'
import { corrections, ourContract, routeOf } from '../../../src/engine/tinker/loss-contract.ts'
import { lossTerms } from '../../../src/engine/tinker/loss-terms.ts'

const policy = { kind: 'policy', lowestRatio: 0.8, highestRatio: 1.28 } as const
const number = (min: number, max: number) => fc.double({ min, max, noNaN: true })

/** A sequence with all inputs of the policy loss. */
const sequence = fc.integer({ min: 2, max: 12 }).chain((length) => {
  const column = (value: fc.Arbitrary<number>) => fc.array(value, { minLength: length, maxLength: length })
  return fc.record({
    tokens: column(fc.nat(50)),
    weights: column(fc.constantFrom(0, 1, 0.25, 2)),
    advantages: column(number(-3, 3)),
    sampledLogprobs: column(number(-6, -0.1)),
    oldLogprobs: column(number(-6, -0.1)),
    logprobs: column(number(-6, -0.1)),
  })
})
const losses: Loss[] = [
  { kind: 'cross-entropy' },
  policy,
  { ...policy, dualClip: 3 },
  { ...policy, dualClip: 10, importanceCap: 2 },
]

describe('loss terms', () => {
  it.each(losses)('have the derivatives of the loss: %j', (loss) => {
    fc.assert(
      fc.property(sequence, fc.nat(), ({ logprobs, ...example }, choice) => {
        const at = 1 + (choice % (logprobs.length - 1))
        const moved = (by: number): number =>
          lossTerms(
            example,
            logprobs.map((value, index) => value + (index === at ? by : 0)),
            loss,
          ).loss
        const [down, here, up] = [moved(-1e-5), moved(0), moved(1e-5)]
        const [left, right] = [(here - down) / 1e-5, (up - here) / 1e-5]
        // At a kink of the clip there is no unique derivative.
        fc.pre(Math.abs(left - right) < 1e-3 * Math.max(1, Math.abs(left)))
        const slope = -lossTerms(example, logprobs, loss).negativeGradient[at]!
        expect(Math.abs(slope - (left + right) / 2)).toBeLessThan(2e-3 * Math.max(1, Math.abs(slope)))
      }),
      { numRuns: 3000 },
    )
  })

  it('clamp a ratio that would be infinite, with zero gradient', () => {
    const example = {
      tokens: [1, 2, 3],
      weights: [0, 1, 1],
      advantages: [0, -1, 1],
      sampledLogprobs: [0, -900, 0],
    }
    const { loss, negativeGradient } = lossTerms(example, [0, 0, -900], policy)
    expect(loss).toBeCloseTo(Math.exp(20), 3)
    expect([...negativeGradient]).toEqual([0, 0, 0])
  })

  it('ignore the other inputs of a zero-weight token', () => {
    const example: TrainingExample = {
      tokens: [1, 2, 3],
      weights: [0, 0, 1],
      advantages: [Number.NaN, Number.NaN, 1],
      sampledLogprobs: [Number.NaN, Number.NaN, -1],
    }
    const { loss, negativeGradient } = lossTerms(example, [Number.NaN, Number.NaN, -1], policy)
    expect([loss, ...negativeGradient]).toEqual([-1, 0, 0, 1])
  })
})

/** The gradient in each log-probability on a server with this reduction, for the derivatives sent to it. */
function serverGradient(reduction: string, gradients: readonly number[][]): number[][] {
  const lengths = gradients.map((negativeGradient) => negativeGradient.length - 1)
  const total = lengths.reduce((sum, length) => sum + length, 0)
  const divisors: Record<string, (length: number) => number> = {
    sum: () => 1,
    'mean of sequences': () => gradients.length,
    'sum of sequence means': (length) => length,
    'mean of sequence means': (length) => length * gradients.length,
    'mean of tokens': () => total,
  }
  return gradients.map((negativeGradient, index) =>
    negativeGradient.map((value) => value / divisors[reduction]!(lengths[index]!)),
  )
}

describe('the correction', () => {
  const reductions = [
    'sum',
    'mean of sequences',
    'sum of sequence means',
    'mean of sequence means',
    'mean of tokens',
  ] as const
  it.each(reductions)('gives token-level DAPO on a server that uses the %s', (reduction) => {
    fc.assert(
      fc.property(fc.array(sequence, { minLength: 1, maxLength: 5 }), (sequences) => {
        const step = normalized(sequences)
        const wanted = step.map((example, index) => [
          ...lossTerms(example, sequences[index]!.logprobs, { ...policy, dualClip: 10 }).negativeGradient,
        ])
        const factors = corrections(
          reduction,
          step.map(({ tokens }) => tokens.length - 1),
        )
        const sent = wanted.map((negativeGradient, index) =>
          negativeGradient.map((value) => value * factors[index]!),
        )
        const found = serverGradient(reduction, sent)
        for (const [index, negativeGradient] of wanted.entries())
          for (const [at, value] of negativeGradient.entries())
            expect(found[index]![at]).toBeCloseTo(value, 9)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('the route of a loss', () => {
  const skyrl: LossContract = {
    ...ourContract,
    crossEntropyIsSum: false,
    advantages: 'mean of sequence means',
    passesAdd: false,
    dualClip: false,
  }
  const dual = { ...policy, dualClip: 10 }
  it.each<[string, LossContract, Loss, unknown]>([
    ['ours', ourContract, { kind: 'cross-entropy' }, 'direct'],
    ['ours', ourContract, dual, 'direct'],
    ['a sum without dual clip', { ...ourContract, dualClip: false }, policy, 'direct'],
    ['a sum without dual clip', { ...ourContract, dualClip: false }, dual, 'derivatives'],
    ['fixed bounds', { ...ourContract, clips: false }, policy, 'derivatives'],
    ['means', skyrl, { kind: 'cross-entropy' }, 'derivatives at the step'],
    ['means', skyrl, dual, 'derivatives at the step'],
    ['averaged passes', { ...ourContract, passesAdd: false }, policy, 'derivatives at the step'],
  ])('%s %#', (_name, contract, loss, route) => {
    expect(routeOf(contract, loss)).toBe(route)
  })

  it('is rejected with the reason if no correction is possible', () => {
    const lost = { ...skyrl, advantages: undefined }
    expect(routeOf(lost, policy)).toEqual({
      unsupported: expect.stringContaining('nor preserves the scale of advantages'),
    })
    // A plain sum of cross-entropy needs no correction, whatever else is lost.
    expect(routeOf({ ...ourContract, advantages: undefined }, { kind: 'cross-entropy' })).toBe('direct')
  })
})
