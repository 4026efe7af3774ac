import { Interrupted } from '../../base/errors/index.ts'
import type { Observe } from '../../base/progress/index.ts'
import type { Engine } from '../../engine/contract.ts'
import type { MetricRow } from '../../store/metrics-file.ts'
import type { Run } from '../../store/run.ts'
import { SaveTimer } from '../../store/save-timer.ts'
import type { BatchPlanner } from './batch-planner.ts'
import { type Checkpoints, isBetter, type Score } from './checkpoints.ts'
import type { SftRow } from './curve.ts'
import type { Example } from './gather.ts'
import { measureLoss, takeStep } from './optimizer-step.ts'
import type { SftSettings } from './settings.ts'

/** Evaluates the weights after `step` steps; `count` is the number of rollouts with a verdict. */
export type Evaluate = (step: number) => Promise<{ accuracy: number; wellFormed: number; count: number }>

export interface TrainingParts {
  folder: Run
  engine: Engine
  plan: BatchPlanner
  held: readonly Example[]
  checkpoints: Checkpoints
  settings: SftSettings
  evaluate: Evaluate | undefined
  observe: Observe
  onStep?: ((row: MetricRow) => void) | undefined
}

/**
 * The training loop. The row of a step is written after its evaluation and before the checkpoint to resume from, so
 * the checkpoint is never ahead of the rows: a killed process repeats some steps and loses none.
 */
export class Training {
  failedEvaluations = 0
  readonly #parts: TrainingParts
  readonly #saves: SaveTimer
  /** Steps the weights have been trained for. */
  #step = 0
  /** Step of the last checkpoint. */
  #saved = 0
  /** Row of a step that is not evaluated yet. */
  #pending: SftRow | undefined
  #last: SftRow | undefined
  #best: Score | undefined

  constructor(parts: TrainingParts) {
    this.#parts = parts
    this.#saves = new SaveTimer(parts.settings.save_seconds)
  }

  async run(signal: AbortSignal): Promise<void> {
    const { plan, checkpoints } = this.#parts
    const state = await checkpoints.resume()
    this.#step = state?.step ?? 0
    this.#pending = state?.pending as SftRow | undefined
    this.#saved = this.#pending === undefined ? this.#step : this.#step - 1
    this.#best = checkpoints.best()?.score
    try {
      while (this.#step < plan.total || this.#pending !== undefined) {
        signal.throwIfAborted()
        this.#saves.throwIfFailed()
        this.#pending ??= await this.#trainStep(signal)
        await this.#finishStep(this.#pending, signal)
      }
    } catch (cause) {
      await this.#saves.settle()
      if (!signal.aborted || this.#step === 0) throw cause
      if (this.#step > this.#saved) await this.#save({ last: true, best: false })
      await this.#saves.settle()
      throw signal.reason instanceof Interrupted ? new Interrupted(`saved after step ${this.#step}`) : cause
    }
    await this.#saves.settle()
    // Without evaluation, the last checkpoint counts as the best.
    if (checkpoints.best() === undefined) await this.#save({ last: false, best: true })
    await this.#saves.settle()
  }

  async #trainStep(signal: AbortSignal): Promise<SftRow> {
    const { engine, plan, settings } = this.#parts
    const step = this.#step + 1
    const { examples, context } = plan.step(step)
    const { learning_rate, warmup, final_share: final, beta2, weight_decay, max_norm } = settings
    const learningRate = learning_rate * learningRateFactor(step, plan.total, { warmup, final })
    const adam = {
      learningRate,
      beta2,
      weightDecay: weight_decay,
      ...(max_norm === 0 ? {} : { maxNorm: max_norm }),
    }
    const started = performance.now()
    const { loss, gradientNorm } = await takeStep(engine, examples, adam, { signal })
    const seconds = (performance.now() - started) / 1000
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

  /** Evaluates and saves if due, and writes the step's row. */
  async #finishStep(taken: SftRow, signal: AbortSignal): Promise<void> {
    const { folder, plan, settings, observe, onStep } = this.#parts
    const last = taken.step === plan.total
    const row = taken.step % settings.eval_every === 0 || last ? await this.#evaluated(taken, signal) : taken
    const { evalLoss, accuracy } = row
    const score = {
      ...(evalLoss === undefined ? {} : { evalLoss }),
      ...(accuracy === undefined ? {} : { accuracy }),
    }
    this.#last = row
    const best = isBetter(score, this.#best, settings.keep)
    if (best) this.#best = score
    const metric = { stage: 'sft', ...row }
    folder.metric(metric)
    onStep?.(metric)
    this.#pending = undefined
    const losses = `loss ${row.loss.toFixed(3)}${evalLoss === undefined ? '' : `, held out ${evalLoss.toFixed(3)}`}`
    observe({ stage: 'sft', done: row.step, total: plan.total, unit: `steps, ${losses}` })
    const isDue = row.step % settings.save_every === 0 || last || this.#saves.isDue
    await this.#save({ last: isDue && row.step > this.#saved, best })
  }

  async #evaluated(row: SftRow, signal: AbortSignal): Promise<SftRow> {
    const { engine, held, evaluate } = this.#parts
    const evalLoss = held.length === 0 ? undefined : await measureLoss(engine, held, signal)
    const rollouts = await this.#rollOut(row.step, signal, evaluate)
    return { ...row, ...(evalLoss === undefined ? {} : { evalLoss }), ...rollouts }
  }

  async #rollOut(
    step: number,
    signal: AbortSignal,
    evaluate: Evaluate | undefined,
  ): Promise<Partial<SftRow>> {
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
      this.#parts.folder.log(`sft: step ${step} could not be evaluated: ${(cause as Error).message}`)
      return {}
    }
  }

  /** Starts saving the current weights: to resume from, as the best so far, or both. Training continues meanwhile. */
  async #save({ last, best }: { last: boolean; best: boolean }): Promise<void> {
    if (!last && !best) return
    const { checkpoints } = this.#parts
    const pending = this.#pending === undefined ? {} : { pending: { ...this.#pending } }
    const [step, score, row] = [this.#step, this.#best ?? {}, this.#last]
    await this.#saves.start(async () => {
      if (last) await checkpoints.save({ step, score: {}, ...pending }, row)
      if (best) await checkpoints.keep(score, step, row)
    })
    if (last) this.#saved = step
  }
}

/** Learning rate factor at a step counted from 1: linear warmup, then cosine decay to `final`. */
export function learningRateFactor(
  step: number,
  total: number,
  { warmup, final }: { warmup: number; final: number },
): number {
  const warmupSteps = Math.ceil(warmup * total)
  if (step <= warmupSteps) return step / warmupSteps
  const progress = (step - warmupSteps) / (total - warmupSteps)
  return final + ((1 - final) * (1 + Math.cos(Math.PI * progress))) / 2
}
