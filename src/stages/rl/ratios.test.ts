import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { PolicyExample } from './examples.ts'
import { sequenceRatios, tokenRatios, weightedByRatio } from './ratios.ts'

/** Log-probabilities that depend on one parameter, each with its own slope, so that gradients can be measured. */
interface Token {
  logprob: number
  slope: number
  old: number
  sampled: number
}

const number = (min: number, max: number) => fc.double({ min, max, noNaN: true })
const token = fc.record({
  logprob: number(-3, -0.1),
  slope: number(-2, 2),
  old: number(-3, -0.1),
  sampled: number(-3, -0.1),
})
/** Rollouts of one or two examples; the first token of an example and every third one are context. */
const rollouts = fc.array(
  fc.record({
    advantage: number(-2, 2),
    examples: fc.array(fc.array(token, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 2 }),
  }),
  { minLength: 1, maxLength: 3 },
)
type Rollouts = { advantage: number; examples: Token[][] }[]
const isTrained = (at: number): boolean => at % 3 !== 0
const settings = { clip_low: 0.2, clip_high: 0.3, importance_cap: 2 }

function exampleOf(tokens: readonly Token[], advantage: number): PolicyExample {
  const column = (value: (token: Token, at: number) => number): Float32Array =>
    Float32Array.from([0, ...tokens.map((each, at) => (isTrained(at) ? value(each, at) : 0))])
  return {
    tokens: new Int32Array(tokens.length + 1),
    weights: column((_, at) => 0.1 * (at + 1)),
    oldLogprobs: column(({ old }) => old),
    sampledLogprobs: column(({ sampled }) => sampled),
    advantages: column(() => advantage),
  }
}

const clamp = (value: number): number =>
  Math.min(Math.max(value, 1 - settings.clip_low), 1 + settings.clip_high)

/** CISPO's objective written out; the clipped ratio is that at 0 and is not differentiated. */
function cispo(given: Rollouts, parameter: number): number {
  let sum = 0
  for (const { advantage, examples } of given)
    for (const tokens of examples)
      for (const [at, { logprob, slope, old, sampled }] of tokens.entries()) {
        if (!isTrained(at)) continue
        const importance = Math.min(Math.exp(old - sampled), settings.importance_cap)
        const ratio = clamp(Math.exp(logprob - old))
        sum += 0.1 * (at + 1) * importance * ratio * advantage * (logprob + slope * parameter)
      }
  return sum
}

/** GSPO's objective written out, as the sum over rollouts. */
function gspo(given: Rollouts, parameter: number): number {
  let sum = 0
  for (const { advantage, examples } of given) {
    const trained = examples.flatMap((tokens) => tokens.filter((_, at) => isTrained(at)))
    if (trained.length === 0) continue
    const total = trained.reduce((all, { logprob, slope, old }) => all + logprob + slope * parameter - old, 0)
    const ratio = Math.exp(total / trained.length)
    sum += Math.min(ratio * advantage, clamp(ratio) * advantage)
  }
  return sum
}

const examplesOf = (given: Rollouts): PolicyExample[][] =>
  given.map(({ advantage, examples }) => examples.map((tokens) => exampleOf(tokens, advantage)))

const logprobsOf = (given: Rollouts): Float32Array[] =>
  given.flatMap(({ examples }) =>
    examples.map((tokens) => Float32Array.from([0, ...tokens.map(({ logprob }) => logprob)])),
  )

/** The derivative by the parameter of cross-entropy with these weights, without its sign. */
function derivative(given: Rollouts, weighted: readonly PolicyExample[]): number {
  const slopes = given.flatMap(({ examples }) =>
    examples.map((tokens) => [0, ...tokens.map(({ slope }) => slope)]),
  )
  return weighted.reduce(
    (sum, { weights }, index) => weights.reduce((all, weight, at) => all + weight * slopes[index]![at]!, sum),
    0,
  )
}

const STEP = 1e-5
const slopeOf = (value: (parameter: number) => number): number => (value(STEP) - value(-STEP)) / (2 * STEP)

it('has the gradient of CISPO', () => {
  fc.assert(
    fc.property(rollouts, (given) => {
      const examples = examplesOf(given).flat()
      const ratios = tokenRatios(examples, logprobsOf(given))
      const weighted = weightedByRatio(examples, ratios, { ...settings, loss: 'cispo' })
      expect(derivative(given, weighted)).toBeCloseTo(
        slopeOf((parameter) => cispo(given, parameter)),
        3,
      )
    }),
    { numRuns: 2000 },
  )
})

it('has the gradient of GSPO if the weights are those of a mean over each rollout', () => {
  fc.assert(
    fc.property(rollouts, (given) => {
      const examples = examplesOf(given).map((each) => {
        const count = each.reduce(
          (sum, { weights }) => sum + weights.filter((weight) => weight > 0).length,
          0,
        )
        return each.map((one) => ({
          ...one,
          weights: one.weights.map((weight) => (weight > 0 ? 1 / count : 0)),
        }))
      })
      const ratios = sequenceRatios(examples, logprobsOf(given))
      // The slope cannot be measured across a bound.
      fc.pre(
        !ratios.some((each) =>
          each.some((ratio) => Math.abs(ratio - clamp(ratio)) < 1e-3 && ratio !== clamp(ratio)),
        ),
      )
      const weighted = weightedByRatio(examples.flat(), ratios, {
        ...settings,
        importance_cap: 0,
        loss: 'gspo',
      })
      expect(derivative(given, weighted)).toBeCloseTo(
        slopeOf((parameter) => gspo(given, parameter)),
        3,
      )
    }),
    { numRuns: 2000 },
  )
})

it('gives no infinite weight, however far the policies are apart', () => {
  const example = exampleOf([{ logprob: 0, slope: 0, old: 0, sampled: 0 }], -1)
  const far = { ...example, weights: Float32Array.of(0, 1), oldLogprobs: Float32Array.of(0, -200) }
  for (const loss of ['gspo', 'cispo'] as const)
    for (const ratios of [
      sequenceRatios([[far]], [new Float32Array(2)]),
      tokenRatios([far], [new Float32Array(2)]),
    ])
      expect(
        weightedByRatio([far], ratios, { ...settings, loss }).every(({ weights }) =>
          weights.every(Number.isFinite),
        ),
      ).toBe(true)
})
