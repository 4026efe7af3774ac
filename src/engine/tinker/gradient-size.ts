import { EngineError } from '../checkpoint/index.ts'
import type { ModelSession, PassInput } from './model-session.ts'
import { gradientNormOf } from './training.ts'

/** So large that Adam's normalization has no effect: a step is then the learning rate times the gradient. */
const EPSILON = 1e6
/** Target change of the log-probabilities: well above rounding, well below nonlinearity. */
const [MIN_CHANGE, MAX_CHANGE] = [4e-3, 4e-2]

/**
 * Measures the size of a gradient, up to a constant factor: by the norm that the server reports or, if it reports none, by
 * how far a small step changes the log-probabilities of some tokens.
 */
export class GradientSize {
  readonly #session: ModelSession
  readonly #tokens: readonly number[]
  readonly #from: number
  #learningRate = 1e-4
  #reportsNorm = false

  constructor(session: ModelSession, tokens: readonly number[], from: number) {
    this.#session = session
    this.#tokens = tokens
    this.#from = from
  }

  /** Determines whether the server reports norms, and the step size, with a pass that certainly has a gradient. */
  async calibrate(pass: PassInput): Promise<void> {
    await this.#session.pass('/forward_backward', pass)
    const output = await this.#session.step({ ...plain, learning_rate: 0 })
    this.#reportsNorm = gradientNormOf(output) !== undefined
    for (let attempt = 0; attempt < 12; attempt++) {
      const moved = Math.abs(await this.moved([pass]))
      if (moved >= MIN_CHANGE && moved <= MAX_CHANGE) return
      // Four times the minimum, so that halves and quarters of it are still above rounding.
      this.#learningRate *= moved === 0 ? 100 : Math.min(100, Math.max(1e-3, (MIN_CHANGE * 4) / moved))
    }
    throw new EngineError(
      "The server's log-probabilities do not respond to training steps, so nothing can be measured.",
      {
        fix: 'Check whether the server trains at all.',
      },
    )
  }

  async of(...passes: PassInput[]): Promise<number> {
    if (!this.#reportsNorm) return Math.abs(await this.moved(passes))
    for (const pass of passes) await this.#session.pass('/forward_backward', pass)
    return gradientNormOf(await this.#session.step({ ...plain, learning_rate: 0 }))!
  }

  /** Total change of the tokens' log-probabilities in a step. */
  async moved(passes: readonly PassInput[], gradClipNorm?: number): Promise<number> {
    const before = await this.#sum()
    for (const pass of passes) await this.#session.pass('/forward_backward', pass)
    await this.#session.step({
      ...plain,
      learning_rate: this.#learningRate * EPSILON,
      ...(gradClipNorm === undefined ? {} : { grad_clip_norm: gradClipNorm }),
    })
    return (await this.#sum()) - before
  }

  async #sum(): Promise<number> {
    return (await this.logprobs()).slice(this.#from).reduce((sum, value) => sum + value, 0)
  }

  async logprobs(): Promise<Float32Array> {
    const tokens = this.#tokens
    const data = [{ tokens, inputs: { weights: tokens.map(() => 1) } }]
    const { logprobs } = await this.#session.pass('/forward', { data, loss_fn: 'cross_entropy' })
    return logprobs[0]!
  }
}

/** Without momentum: each step depends only on its own gradient. */
const plain = { learning_rate: 0, beta1: 0, beta2: 0, eps: EPSILON, weight_decay: 0 }
