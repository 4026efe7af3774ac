import { GradientSize } from './gradient-size.ts'
import type { LossContract, Reduction } from './loss-contract.ts'
import type { ModelSession, PassInput } from './model-session.ts'
import { statusOf } from './wire-errors.ts'

/** A sequence with a few weighted tokens at its end, and the same with a zero-weight tail. */
const ACTIONS = 4
const short = Array.from({ length: 13 }, (_, at) => 5 + ((at * 7) % 23))
const long = [...short, ...Array.from({ length: 12 }, (_, at) => 6 + ((at * 5) % 19))]
const from = short.length - ACTIONS
const [shortLength, longLength] = [short.length - 1, long.length - 1]

const onActions = (tokens: readonly number[], value: number): number[] =>
  tokens.map((_, at) => (at >= from && at < short.length ? value : 0))

function crossEntropy(...sequences: [tokens: readonly number[], weight: number][]): PassInput {
  return {
    loss_fn: 'cross_entropy',
    data: sequences.map(([tokens, weight]) => ({ tokens, inputs: { weights: onActions(tokens, weight) } })),
  }
}

/**
 * Measures on a scratch model how a server treats losses, by comparing gradients that point in the same direction: one
 * sequence with two, half weights, a zero-weight tail, and ratios inside and outside the clip range.
 */
export async function probeContract(session: ModelSession): Promise<LossContract> {
  const size = new GradientSize(session, short, from)
  const one = crossEntropy([short, 1])
  await size.calibrate(one)
  const base = await size.of(one)
  const share = async (...passes: PassInput[]): Promise<number> => (await size.of(...passes)) / base
  const crossEntropyIsSum =
    near(await share(crossEntropy([short, 0.5])), 0.5) &&
    near(await share(crossEntropy([short, 1], [short, 1])), 2) &&
    near(await share(crossEntropy([long, 1])), 1)
  const passesAdd = near(await share(one, one), 2)
  const policies = new Policies(size)
  const advantages = await policies.reduction()
  return {
    crossEntropyIsSum,
    advantages,
    passesAdd,
    clips: advantages !== undefined && (await policies.clips()),
    dualClip: advantages !== undefined && (await policies.dualClip()),
    clipsGradient: await clipsGradient(size, one),
    repeatsSafely: await session.repeatsSafely(one),
  }
}

class Policies {
  readonly #size: GradientSize
  #base = 0

  constructor(size: GradientSize) {
    this.#size = size
  }

  async #pass(
    sequences: [tokens: readonly number[], advantage: number][],
    { ratio = 1, loss_fn = 'importance_sampling', ...config }: PolicyPass = {},
  ): Promise<PassInput> {
    // Current values, so that the ratio is as intended although the model has changed.
    const known = await this.#size.logprobs()
    const data = sequences.map(([tokens, advantage]) => ({
      tokens,
      inputs: {
        logprobs: tokens.map((_, at) => (known[at] ?? -1) - Math.log(ratio)),
        advantages: onActions(tokens, advantage),
      },
    }))
    return { data, loss_fn, ...(Object.keys(config).length === 0 ? {} : { loss_fn_config: config }) }
  }

  async reduction(): Promise<Reduction | undefined> {
    try {
      this.#base = await this.#size.of(await this.#pass([[short, 1]]))
    } catch (cause) {
      if (isRefusal(cause)) return undefined
      throw cause
    }
    const share = async (...sequences: [readonly number[], number][]): Promise<number> =>
      (await this.#size.of(await this.#pass(sequences))) / this.#base
    if (!near(await share([short, 2]), 2)) return undefined
    const twice = await share([short, 1], [short, 1])
    const withIdle = await share([short, 1], [long, 0])
    const withTail = await share([long, 1])
    const byLength = near(withTail, shortLength / longLength)
    if (near(twice, 2)) return byLength ? 'sum of sequence means' : near(withTail, 1) ? 'sum' : undefined
    if (!near(twice, 1)) return undefined
    if (near(withIdle, shortLength / (shortLength + longLength))) return 'mean of tokens'
    if (!near(withIdle, 0.5)) return undefined
    return byLength ? 'mean of sequence means' : 'mean of sequences'
  }

  /** Non-default bounds are respected on both sides, and values within them are not clipped. */
  async clips(): Promise<boolean> {
    const wide = { loss_fn: 'ppo', clip_low_threshold: 0.6, clip_high_threshold: 1.28 }
    const share = (advantage: number, ratio: number) => this.#share(advantage, { ...wide, ratio })
    return (
      near(await share(1, 1.25), 1.25) &&
      near(await share(1, 1.35), 0) &&
      near(await share(-1, 0.7), 0.7) &&
      near(await share(-1, 0.5), 0)
    )
  }

  async dualClip(): Promise<boolean> {
    const bounds = { loss_fn: 'ppo', clip_low_threshold: 0.8, clip_high_threshold: 1.28, dual_clip: 1.5 }
    return near(await this.#share(-1, { ...bounds, ratio: 2 }), 0)
  }

  async #share(advantage: number, pass: PolicyPass): Promise<number | undefined> {
    try {
      return (await this.#size.of(await this.#pass([[short, advantage]], pass))) / this.#base
    } catch (cause) {
      if (isRefusal(cause)) return undefined
      throw cause
    }
  }
}

interface PolicyPass {
  ratio?: number
  loss_fn?: string
  clip_low_threshold?: number
  clip_high_threshold?: number
  dual_clip?: number
}

async function clipsGradient(size: GradientSize, pass: PassInput): Promise<boolean> {
  const free = await size.moved([pass])
  try {
    return near((await size.moved([pass], 1e-6)) / free, 0)
  } catch (cause) {
    if (isRefusal(cause)) return false
    throw cause
  }
}

/** The server does not support the request. Temporary or internal errors are not conclusive. */
function isRefusal(cause: unknown): boolean {
  const status = statusOf(cause)
  return status === 400 || status === 422
}

/** Coarse on purpose: the cases differ by factors, and the model changes slightly during measurement. */
function near(found: number | undefined, wanted: number): boolean {
  return found !== undefined && Math.abs(found - wanted) <= 0.15 * Math.max(wanted, 0.5)
}
