import { EngineError } from '../checkpoint/index.ts'
import { datumOf, logprobsOf } from './datums.ts'
import type { ModelSession, PassInput } from './model-session.ts'
import { gradientNormOf } from './training.ts'

/** So large beside any gradient that Adam's division leaves its scale alone: a step is then the rate times the gradient. */
const EPSILON = 1e6
/** A change of the log-probabilities that is well above rounding and well below what bends the model. */
const [LEAST, MOST] = [4e-3, 4e-2]

/**
 * Measures how large a gradient is, up to a factor that stays the same: by the length that the server tells, or, where
 * it tells none, by how far a small step moves the log-probabilities of some tokens.
 */
export class GradientSize {
  readonly #session: ModelSession
  readonly #tokens: readonly number[]
  readonly #from: number
  #rate = 1e-4
  #told = false

  constructor(session: ModelSession, tokens: readonly number[], from: number) {
    this.#session = session
    this.#tokens = tokens
    this.#from = from
  }

  /** Finds out what the server tells and how long a step has to be, with a pass that surely has a gradient. */
  async calibrate(pass: PassInput): Promise<void> {
    await this.#session.pass('/forward_backward', pass)
    const output = await this.#session.step({ ...plain, learning_rate: 0 })
    this.#told = gradientNormOf(output) !== undefined
    for (let attempt = 0; attempt < 12; attempt++) {
      const moved = Math.abs(await this.moved([pass]))
      if (moved >= LEAST && moved <= MOST) return
      // Four times the least, so that the halves and quarters to come can be told from rounding.
      this.#rate *= moved === 0 ? 100 : Math.min(100, Math.max(1e-3, (LEAST * 4) / moved))
    }
    throw new EngineError(
      'The server’s log-probabilities do not follow its steps, so nothing can be measured.',
      {
        fix: 'Look whether the server trains at all.',
      },
    )
  }

  async of(...passes: PassInput[]): Promise<number> {
    if (!this.#told) return Math.abs(await this.moved(passes))
    for (const pass of passes) await this.#session.pass('/forward_backward', pass)
    return gradientNormOf(await this.#session.step({ ...plain, learning_rate: 0 }))!
  }

  /** How far the log-probabilities of the tokens move together in a step. */
  async moved(passes: readonly PassInput[], gradClipNorm?: number): Promise<number> {
    const before = await this.#sum()
    for (const pass of passes) await this.#session.pass('/forward_backward', pass)
    await this.#session.step({
      ...plain,
      learning_rate: this.#rate * EPSILON,
      ...(gradClipNorm === undefined ? {} : { grad_clip_norm: gradClipNorm }),
    })
    return (await this.#sum()) - before
  }

  async #sum(): Promise<number> {
    return (await this.logprobs()).slice(this.#from).reduce((sum, value) => sum + value, 0)
  }

  async logprobs(): Promise<Float32Array> {
    const tokens = this.#tokens
    const data = [datumOf(tokens, { weights: tokens.map(() => 1) })]
    const output = await this.#session.pass('/forward', { data, loss_fn: 'cross_entropy' })
    return logprobsOf(output.loss_fn_outputs[0]!, tokens.length)
  }
}

/** Without memory: each step is that of its own gradient alone. */
const plain = { learning_rate: 0, beta1: 0, beta2: 0, eps: EPSILON, weight_decay: 0 }
