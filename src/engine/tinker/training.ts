import { checkExamples } from '../check-examples.ts'
import { EngineError } from '../checkpoint/index.ts'
import type { AdamSettings, Loss, OptimResult, PassResult, TrainingExample } from '../contract.ts'
import { isTrainable } from './datums.ts'
import { corrections, type LossContract, type Route, routeOf } from './loss-contract.ts'
import { lossTerms } from './loss-terms.ts'
import type { AdamParams, ModelSession } from './model-session.ts'
import type { StepOutput } from './protocol-types.ts'

export interface TrainingLimits {
  contextLength: number
  vocabularySize: number
}

/** A sequence whose derivatives are deferred until the step. */
interface Deferred {
  tokens: ArrayLike<number>
  logprobs: Float32Array
  negativeGradient: Float64Array
  temperature: number
}

/** Passes and steps on a model of a server; the gradient is that of the plain sum, however the server reduces losses. */
export class Training {
  readonly #session: ModelSession
  readonly #contract: LossContract
  readonly #limits: TrainingLimits
  /** True if the server supports our extensions of the protocol. */
  readonly #ours: boolean
  #deferred: Deferred[] = []
  #steps = 0

  constructor(session: ModelSession, contract: LossContract, limits: TrainingLimits, ours: boolean) {
    this.#session = session
    this.#contract = contract
    this.#limits = limits
    this.#ours = ours
  }

  async forward(
    examples: readonly TrainingExample[],
    signal?: AbortSignal,
    temperature = 1,
  ): Promise<PassResult> {
    checkExamples(examples, { kind: 'none' }, this.#limits)
    const logprobs = await this.#logprobs(examples, temperature, signal)
    return { loss: 0, weight: weightOf(examples), logprobs }
  }

  async forwardBackward(
    examples: readonly TrainingExample[],
    loss: Loss,
    signal?: AbortSignal,
  ): Promise<PassResult> {
    checkExamples(examples, loss, this.#limits)
    const route = routeFor(this.#contract, loss, examples, this.#ours)
    if (route === 'direct') return this.#direct(examples, loss, signal)
    const temperature = temperatureOf(loss)
    const logprobs = await this.#logprobs(examples, temperature, signal)
    const terms = examples.map((example, index) => lossTerms(example, logprobs[index]!, loss))
    const deferred = examples.map(({ tokens }, index) => ({
      tokens,
      logprobs: logprobs[index]!,
      negativeGradient: terms[index]!.negativeGradient,
      temperature,
    }))
    if (route === 'derivatives') await this.#sendDerivatives(deferred, signal)
    else this.#deferred.push(...deferred)
    const sum = terms.reduce((total, { loss: part }) => total + part, 0)
    return { loss: sum, weight: weightOf(examples), logprobs }
  }

  async optimStep(settings: AdamSettings): Promise<OptimResult> {
    const { learningRate, beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, weightDecay = 0, maxNorm } = settings
    if (maxNorm !== undefined && !this.#contract.clipsGradient) {
      throw new EngineError(
        'This server does not support gradient clipping, so maxNorm would have no effect.',
        {
          fix: 'Omit maxNorm, or use a server that clips gradients.',
        },
      )
    }
    const deferred = this.#deferred.splice(0)
    if (deferred.length > 0) await this.#sendDerivatives(deferred)
    const adam: AdamParams = {
      learning_rate: learningRate,
      beta1,
      beta2,
      eps: epsilon,
      weight_decay: weightDecay,
      ...(maxNorm === undefined ? {} : { grad_clip_norm: maxNorm }),
    }
    const output = await this.#session.step(adam)
    this.#steps = output.metrics?.['step'] ?? this.#steps + 1
    return { step: this.#steps, gradientNorm: gradientNormOf(output) ?? Number.NaN }
  }

  /** After loading weights: discards deferred gradients of the old ones. */
  discardDeferred(): void {
    this.#deferred = []
  }

  async #direct(examples: readonly TrainingExample[], loss: Loss, signal?: AbortSignal): Promise<PassResult> {
    const sent = examples.filter(isTrainable)
    if (sent.length === 0) return nothing(examples)
    const output = await this.#session.pass(
      '/forward_backward',
      {
        data: sent.map((example) => ({ tokens: example.tokens, inputs: this.#inputs(example, loss) })),
        ...this.#lossFunction(loss),
      },
      signal,
    )
    const logprobs = placed(examples, output.logprobs)
    // If the server does not report it, it is computed from the log-probabilities.
    const reported = output.metrics['loss:sum']
    const sum =
      reported === undefined
        ? examples.reduce((total, each, index) => total + lossTerms(each, logprobs[index]!, loss).loss, 0)
        : (reported ?? Number.NaN)
    return { loss: sum, weight: weightOf(examples), logprobs }
  }

  #inputs(example: TrainingExample, loss: Loss): Record<string, ArrayLike<number> | undefined> {
    const { weights, advantages, sampledLogprobs, oldLogprobs } = example
    if (loss.kind === 'cross-entropy') return { weights }
    const logprobs = oldLogprobs ?? sampledLogprobs
    if (this.#ours) return { weights, advantages, logprobs, sampled_logprobs: sampledLogprobs }
    // The protocol's clipped loss has neither weights nor importance weights; both only scale the advantage.
    const scaled = Float64Array.from(weights, (weight, at) => {
      if (weight === 0) return 0
      const logRatio = logprobs![at]! - sampledLogprobs![at]!
      const factor = loss.importanceCap === undefined ? 1 : Math.min(Math.exp(logRatio), loss.importanceCap)
      return weight * factor * advantages![at]!
    })
    return { advantages: scaled, logprobs }
  }

  /** Sends derivatives as advantages, with a ratio of one to the log-probabilities just computed. */
  async #sendDerivatives(deferred: readonly Deferred[], signal?: AbortSignal): Promise<void> {
    const sent = deferred.filter(isTrainable)
    if (sent.length === 0) return
    const lengths = sent.map(({ tokens }) => tokens.length - 1)
    const factors = corrections(this.#contract.advantages!, lengths)
    const data = sent.map(({ tokens, logprobs, negativeGradient }, index) => ({
      tokens,
      inputs: { logprobs, advantages: negativeGradient.map((value) => value * factors[index]!) },
    }))
    const loss = { loss_fn: 'importance_sampling', ...this.#atTemperature(sent[0]!.temperature) }
    await this.#session.pass('/forward_backward', { data, ...loss }, signal)
  }

  async #logprobs(
    examples: readonly TrainingExample[],
    temperature: number,
    signal?: AbortSignal,
  ): Promise<Float32Array[]> {
    const sent = examples.filter(isTrainable)
    if (sent.length === 0) return nothing(examples).logprobs
    const data = sent.map(({ tokens, weights }) => ({ tokens, inputs: { weights } }))
    const loss = { loss_fn: 'cross_entropy', ...this.#atTemperature(temperature) }
    const output = await this.#session.pass('/forward', { data, ...loss }, signal)
    return placed(examples, output.logprobs)
  }

  #lossFunction(loss: Loss): { loss_fn: string; loss_fn_config?: Record<string, number> } {
    if (loss.kind === 'cross-entropy')
      return { loss_fn: 'cross_entropy', ...this.#atTemperature(temperatureOf(loss)) }
    return {
      loss_fn: 'ppo',
      loss_fn_config: {
        clip_low_threshold: loss.lowestRatio,
        clip_high_threshold: loss.highestRatio,
        ...(loss.dualClip === undefined ? {} : { dual_clip: loss.dualClip }),
        ...(loss.importanceCap === undefined || !this.#ours ? {} : { importance_cap: loss.importanceCap }),
        ...this.#atTemperature(temperatureOf(loss)).loss_fn_config,
      },
    }
  }

  /** The protocol has no temperature, so other servers support only 1. */
  #atTemperature(temperature: number): { loss_fn_config?: { temperature: number } } {
    if (temperature === 1) return {}
    if (!this.#ours)
      throw new EngineError(
        `This server cannot train at temperature ${temperature}: ${TEMPERATURE_ONE_ONLY}.`,
        {
          fix: 'Set rollout.temperature to 1, or use the coa trainer (`coa trainer start`).',
        },
      )
    return { loss_fn_config: { temperature } }
  }
}

/** Why other servers reject other temperatures. */
export const TEMPERATURE_ONE_ONLY = 'its protocol computes log-probabilities only at temperature 1'

function temperatureOf(loss: Loss): number {
  return loss.temperature ?? 1
}

/**
 * A negative weight inverts the clipped loss, and other servers may not expect one in cross-entropy, so the derivatives are
 * computed here.
 */
function routeFor(
  contract: LossContract,
  loss: Loss,
  examples: readonly TrainingExample[],
  ours: boolean,
): Route {
  const route = routeOf(contract, loss)
  if (typeof route === 'object')
    throw new EngineError(`This server cannot be used for training: ${route.unsupported}.`, {
      fix: 'Use the coa trainer (`coa trainer start`) or another server.',
    })
  if (route !== 'direct' || (ours && loss.kind === 'cross-entropy')) return route
  return examples.some(hasNegative) ? 'derivatives' : route
}

function hasNegative({ weights }: TrainingExample): boolean {
  for (let at = 0; at < weights.length; at++) if (weights[at]! < 0) return true
  return false
}

export function gradientNormOf({ metrics }: StepOutput): number | undefined {
  return metrics?.['grad_norm'] ?? metrics?.['skyrl.ai/grad_norm'] ?? undefined
}

/** Puts the results of the examples that were sent in their places. */
function placed(examples: readonly TrainingExample[], found: readonly Float32Array[]): Float32Array[] {
  let next = 0
  return examples.map((example) =>
    isTrainable(example) ? found[next++]! : new Float32Array(example.tokens.length),
  )
}

function nothing(examples: readonly TrainingExample[]): PassResult {
  return {
    loss: 0,
    weight: weightOf(examples),
    logprobs: examples.map(({ tokens }) => new Float32Array(tokens.length)),
  }
}

function weightOf(examples: readonly TrainingExample[]): number {
  let sum = 0
  for (const { weights } of examples) for (let at = 1; at < weights.length; at++) sum += weights[at]!
  return sum
}
