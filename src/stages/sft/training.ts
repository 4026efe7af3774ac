import type { Observe } from '../../base/progress/index.ts'
import type { Engine } from '../../engine/index.ts'
import { type MetricRow, type Run, SaveTimer } from '../../store/index.ts'
import { type Checkpoints, isBetter, type Score } from './checkpoints.ts'
import type { SftSettings } from './config.ts'
import type { SftRow } from './curve.ts'
import type { Example } from './examples.ts'
import { rateShare } from './learning-rate.ts'
import { measureLoss, takeStep } from './passes.ts'
import type { Plan } from './plan.ts'

/** Rollouts after so many steps; `count` is how many could be judged. */
export type Evaluate = (step: number) => Promise<{ accuracy: number; wellFormed: number; count: number }>

export interface TrainingParts {
  folder: Run
  engine: Engine
  plan: Plan
  held: readonly Example[]
  checkpoints: Checkpoints
  settings: SftSettings
  evaluate: Evaluate | undefined
  observe: Observe
  onStep?: ((row: MetricRow) => void) | undefined
}

/**
 * The steps, one after the other. The row of a step is written after its measurement and before the checkpoint to go on
 * from, which so is never ahead of the rows: a process that is killed repeats some steps and loses none.
 */
export class Training {
  failedEvaluations = 0
  readonly #parts: TrainingParts
  readonly #timer: SaveTimer
  /** How far the weights are. */
  #step = 0
  /** How far the last checkpoint is. */
  #saved = 0
  /** Of a step that is taken and not yet measured. */
  #pending: SftRow | undefined
  #last: SftRow | undefined
  #best: Score | undefined

  constructor(parts: TrainingParts) {
    this.#parts = parts
    this.#timer = new SaveTimer(parts.settings.save_seconds)
  }

  async go(signal: AbortSignal): Promise<void> {
    const { plan, checkpoints } = this.#parts
    const standing = await checkpoints.resume()
    this.#step = standing?.step ?? 0
    this.#pending = standing?.pending as SftRow | undefined
    this.#saved = this.#pending === undefined ? this.#step : this.#step - 1
    this.#best = checkpoints.best()?.score
    try {
      while (this.#step < plan.total || this.#pending !== undefined) {
        signal.throwIfAborted()
        this.#pending ??= await this.#next(signal)
        await this.#settle(this.#pending, signal)
      }
    } catch (cause) {
      if (signal.aborted && this.#step > this.#saved) await this.#save()
      throw cause
    }
    // Where nothing was measured, the last is the best there is.
    if (checkpoints.best() === undefined) await this.#keep()
  }

  /** Takes the next step. */
  async #next(signal: AbortSignal): Promise<SftRow> {
    const { engine, plan, settings } = this.#parts
    const step = this.#step + 1
    const { examples, context } = plan.step(step)
    const { learning_rate, warmup, final_share: final, beta2, weight_decay, max_norm } = settings
    const learningRate = learning_rate * rateShare(step, plan.total, { warmup, final })
    const adam = {
      learningRate,
      beta2,
      weightDecay: weight_decay,
      ...(max_norm === 0 ? {} : { maxNorm: max_norm }),
    }
    const begun = performance.now()
    const { loss, gradientNorm } = await takeStep(engine, examples, adam, { signal })
    const seconds = (performance.now() - begun) / 1000
    this.#step = step
    const tokens = examples.reduce((sum, example) => sum + example.tokens.length, 0)
    return {
      step,
      loss,
      learningRate,
      gradientNorm: Number.isFinite(gradientNorm) ? gradientNorm : null,
      tokens,
      trainedTokens: examples.reduce((sum, { learnedTokens }) => sum + learnedTokens, 0),
      context,
      tokensPerSecond: Math.round(tokens / seconds),
    }
  }

  /** Measures and saves what is due after a step, and writes its row. */
  async #settle(taken: SftRow, signal: AbortSignal): Promise<void> {
    const { folder, plan, settings, observe, onStep } = this.#parts
    const last = taken.step === plan.total
    const row = taken.step % settings.eval_every === 0 || last ? await this.#measured(taken, signal) : taken
    const { evalLoss, accuracy } = row
    const score = {
      ...(evalLoss === undefined ? {} : { evalLoss }),
      ...(accuracy === undefined ? {} : { accuracy }),
    }
    this.#last = row
    if (isBetter(score, this.#best, settings.keep)) {
      this.#best = score
      await this.#keep()
    }
    const metric = { stage: 'sft', ...row }
    folder.metric(metric)
    onStep?.(metric)
    this.#pending = undefined
    const losses = `loss ${row.loss.toFixed(3)}${evalLoss === undefined ? '' : `, held out ${evalLoss.toFixed(3)}`}`
    observe({ stage: 'sft', done: row.step, total: plan.total, unit: `steps, ${losses}` })
    const isDue = row.step % settings.save_every === 0 || last || this.#timer.isDue
    if (isDue && row.step > this.#saved) await this.#save()
  }

  async #measured(row: SftRow, signal: AbortSignal): Promise<SftRow> {
    const { engine, held, evaluate } = this.#parts
    const evalLoss = held.length === 0 ? undefined : await measureLoss(engine, held, signal)
    const rollouts = await this.#tryOut(row.step, signal, evaluate)
    return { ...row, ...(evalLoss === undefined ? {} : { evalLoss }), ...rollouts }
  }

  async #tryOut(step: number, signal: AbortSignal, evaluate: Evaluate | undefined): Promise<Partial<SftRow>> {
    try {
      const { accuracy, wellFormed, count } = (await evaluate?.(step)) ?? {
        accuracy: 0,
        wellFormed: 0,
        count: 0,
      }
      return count === 0 ? {} : { accuracy, wellFormed, rollouts: count }
    } catch (cause) {
      signal.throwIfAborted()
      this.failedEvaluations++
      this.#parts.folder.log(`sft: step ${step} could not be tried out: ${(cause as Error).message}`)
      return {}
    }
  }

  async #save(): Promise<void> {
    const pending = this.#pending === undefined ? {} : { pending: { ...this.#pending } }
    const standing = { step: this.#step, score: {}, ...pending }
    await this.#timer.timed(() => this.#parts.checkpoints.save('sft-last', standing, this.#last))
    this.#saved = this.#step
  }

  /** The weights as they are now become the best. */
  async #keep(): Promise<void> {
    await this.#parts.checkpoints.save('sft', { step: this.#step, score: this.#best ?? {} }, this.#last)
  }
}
