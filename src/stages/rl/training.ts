import { join } from 'node:path'
import { ConfigError, Interrupted } from '../../base/errors/index.ts'
import { percent } from '../../base/text/index.ts'
import type { CheckpointNote } from '../../engine/index.ts'
import type { Rollout, Task } from '../../schema/index.ts'
import { type MetricRow, SaveTimer } from '../../store/index.ts'
import { checkpointPath, freshState, type RlState, readState, saveResult, saveState } from './checkpoints.ts'
import type { RlSettings } from './config.ts'
import type { Measured, RlContext } from './contract.ts'
import { diagnose, findingText, stepRows } from './diagnose.ts'
import { adviceFor } from './dynamic-sampling.ts'
import { PolicySteps, policiesOf } from './policy-steps.ts'
import { RolloutPool } from './rollout-pool.ts'
import type { SampledStep } from './sample-step.ts'
import { passRate, stepRow } from './step-metrics.ts'
import { learningRateAt, trainStep } from './train-step.ts'

export interface RlSummary {
  figures: Record<string, number>
  /** Folder of the kept weights. */
  checkpoint: string
  /** Descriptions of problems found. */
  findings: string[]
  /** Why training stopped early. */
  ended?: string
}

/** Number of steps averaged at the start and the end. */
const LAST = 5

/** The training loop: rollouts, updates, metrics and checkpoints. */
export class Training {
  readonly #settings: RlSettings
  readonly #context: RlContext
  readonly #tasks: ReadonlyMap<string, Task>
  #state: RlState = freshState
  /** Set if training stopped early because too little is left to learn. */
  #earlyStop: { text: string; passRate: number; rollouts: number } | undefined
  #rows: MetricRow[] = []
  readonly #saves: SaveTimer
  /** The state that matches the weights in the engine. */
  #trained: RlState | undefined
  #began = performance.now()
  /** Of an interrupted training that was resumed. */
  #minutesBefore = 0
  /** When the previous step ended: saving counts toward the next. */
  #ended = performance.now()

  constructor(settings: RlSettings, context: RlContext) {
    this.#settings = settings
    this.#saves = new SaveTimer(settings.save_seconds)
    this.#context = context
    this.#tasks = new Map(context.tasks.map((task) => [task.id, task]))
    const fingerprint = context.student.parent?.fingerprint
    if (fingerprint !== undefined) this.#state = { ...freshState, parent: fingerprint }
  }

  async resume(): Promise<void> {
    const { run, student } = this.#context
    const state = readState(run)
    if (state?.last === undefined) return
    if (state.parent !== student.parent?.fingerprint)
      throw new ConfigError(`run ${run.id} has been trained to step ${state.step} from another model`, {
        fix: 'Continue with the original model, restart with --again, or make a new run.',
      })
    await student.engine.load(join(run.dir, state.last.folder))
    this.#state = state
    this.#trained = state
    this.#rows = stepRows(run.metrics()).filter(({ step }) => Number(step) <= state.step)
    this.#minutesBefore = Number(this.#rows.at(-1)?.['minutes'] ?? 0)
    run.log(`rl: resuming after step ${state.step}`)
  }

  async run(): Promise<RlSummary> {
    const { steps, keep, eval_every } = this.#settings
    this.#ended = this.#began = performance.now()
    const policy = new PolicySteps(this.#state.step)
    let pool: RolloutPool | undefined
    try {
      if (this.#state.last === undefined) await this.#begin()
      pool = this.#pool(policy)
      for (let step = this.#state.step + 1; step <= steps; step++) {
        this.#saves.throwIfFailed()
        const from = performance.now()
        const sampled = await pool.next()
        const waitedMs = performance.now() - from
        if (await this.#isOver(sampled)) break
        this.#state = { ...this.#state, step, drawing: sampled.next }
        const measures = eval_every > 0 && (step % eval_every === 0 || step === steps)
        const onUpdate = (isLast: boolean): void => policy.updating(isLast ? step : undefined)
        await this.#train(sampled, waitedMs, { measures, onUpdate, onTrained: () => pool?.trained(step) })
        this.#context.signal.throwIfAborted()
        const isBest = this.#state.best?.step === step
        const isLast = this.#isOutOfTime()
        if (isLast || this.#isSaved(step) || (keep === 'best' && isBest)) await this.#save()
        if (isLast) break
      }
      await this.#measureEnd()
      await this.#saves.settle()
    } catch (error) {
      throw await this.#stopped(error)
    } finally {
      await pool?.close()
    }
    return this.#finish()
  }

  /** After Ctrl-C, saves what has been trained; a step that was not finished is repeated. Returns the error to throw. */
  async #stopped(error: unknown): Promise<unknown> {
    const { signal } = this.#context
    await this.#saves.settle()
    if (!signal.aborted || this.#trained === undefined) return error
    // The weights of this step may have been evaluated already.
    const { last, best } = this.#state
    this.#state = { ...this.#trained, last, best }
    if (this.#state.last?.step !== this.#state.step) await this.#save()
    await this.#saves.settle()
    return signal.reason instanceof Interrupted
      ? new Interrupted(`saved after step ${this.#state.step}`)
      : error
  }

  /** Leaves the kept weights in the engine and in the result folder. */
  async #finish(): Promise<RlSummary> {
    const { run, student } = this.#context
    const { last, best } = this.#state
    const kept = this.#settings.keep === 'best' && best !== undefined ? best : last!
    if (kept.folder !== last!.folder) await student.engine.load(join(run.dir, kept.folder), { fresh: true })
    const row = this.#rows.find(({ step }) => step === kept.step)
    return this.#summary(saveResult(run, kept.folder, kept.step, this.#note(row)))
  }

  /**
   * A step that cannot be filled is skipped: with few groups, noise dominates the reward signal. If most groups are
   * always solved, training is complete; otherwise this is an error.
   */
  async #isOver(sampled: SampledStep): Promise<boolean> {
    const { step, kept, shortage, dropped, rollouts } = sampled
    const { dynamic_sampling, partial_steps } = this.#settings
    if (shortage === undefined) return false
    if (kept.length > 0 && (partial_steps || !dynamic_sampling)) return false
    await this.#saves.settle()
    if (this.#state.last?.step !== this.#state.step) await this.#save()
    const { all_right, ...others } = dropped
    const isSolved = all_right > Object.values(others).reduce((sum, count) => sum + count, 0)
    if (!isSolved)
      throw new ConfigError(`step ${step} cannot be filled: it has ${shortage}`, { fix: adviceFor(dropped) })
    const rate = passRate(rollouts)
    const text = `Training stops before step ${step}: ${percent(rate, 0)} of the rollouts are correct, and too few groups differ to learn from (${shortage}).`
    this.#earlyStop = { text, passRate: rate, rollouts: rollouts.length }
    this.#context.run.log(`rl: ${text}`)
    return true
  }

  /**
   * Evaluates the weights after the last step, unless they have been: training stopped early, or their evaluation was
   * interrupted. Otherwise they could not be kept as the best.
   */
  async #measureEnd(): Promise<void> {
    const { run, signal } = this.#context
    const { step } = this.#state
    const row = this.#rows.at(-1)
    if (this.#settings.eval_every === 0 || row === undefined || row['eval_accuracy'] !== undefined) return
    const measured = await this.#measure(step)
    signal.throwIfAborted()
    if (Object.keys(measured).length === 0) return
    const { t: _, ...known } = row
    const whole = { ...known, ...measured }
    this.#rows = [...this.#rows.slice(0, -1), whole]
    if (this.#state.best?.step === step) await this.#save()
    await this.#saves.settle()
    // Last, because a step that has been evaluated is not evaluated again after a kill.
    run.metric(whole)
  }

  #isSaved(step: number): boolean {
    return step % this.#settings.save_every === 0 || step === this.#settings.steps || this.#saves.isDue
  }

  #pool(policy: PolicySteps): RolloutPool {
    const { tasks, rollOut, compare, signal, observe } = this.#context
    const { steps, keep_rollouts } = this.#settings
    let count = 0
    return new RolloutPool(
      {
        tasks,
        settings: this.#settings,
        rollOut,
        compare,
        signal,
        policy,
        onEnd: () => {
          const unit = `steps, ${++count} rollouts of the next`
          observe({ stage: 'rl', done: this.#state.step, total: steps, unit })
        },
        onRollout: (rollout, step, groupIndex) => {
          count = 0
          const policyStep = policiesOf(rollout)[0]?.step ?? policy.current
          this.#store(rollout, { step, policyStep }, keep_rollouts === 0 || groupIndex < keep_rollouts)
        },
      },
      this.#state.drawing,
    )
  }

  #store(rollout: Rollout, meta: Record<string, number>, isWhole: boolean): void {
    this.#context.run.append('rollout', {
      ...(isWhole ? rollout : withoutTokens(rollout)),
      meta: { ...rollout.meta, ...meta, ...(isWhole ? {} : { tokensLeftOut: true }) },
    })
  }

  async #train(
    sampled: SampledStep,
    waitedMs: number,
    {
      measures,
      onUpdate,
      onTrained,
    }: { measures: boolean; onUpdate: (isLast: boolean) => void; onTrained: () => void },
  ): Promise<void> {
    const { run, student, signal, observe, onStep } = this.#context
    const { steps } = this.#settings
    const { step, kept, shortage, dropped } = sampled
    // A few missing groups are not reported; the metrics have them.
    if (shortage !== undefined && kept.length < this.#settings.groups / 2)
      this.#reportOnce('shortage', `step ${step} is partial: ${shortage}. ${adviceFor(dropped)}`)
    const learningRate = learningRateAt(step, this.#settings)
    const began = performance.now()
    const trained = await trainStep(student, kept, this.#settings, {
      learningRate,
      signal,
      onUpdate,
      replay: this.#context.replay?.(step) ?? [],
    })
    this.#trained = this.#state
    const trainingMs = performance.now() - began
    onTrained()
    const wallMs = performance.now() - this.#ended
    const times = { wallMs, trainingMs, waitedMs, overlaps: this.#settings.overlap > 0 }
    const row: MetricRow = {
      ...stepRow(sampled, trained, this.#tasks, { learningRate, times }),
      minutes: this.#minutes,
      ...(measures ? await this.#measure(step) : {}),
    }
    this.#ended = performance.now()
    run.metric(row)
    this.#rows.push(row)
    onStep?.(row)
    this.#reportFindings()
    const [reward, passes] = [Number(row['reward_mean']), Number(row['pass_rate'])]
    const unit = `steps, reward ${reward.toFixed(2)}, ${percent(passes, 0)} correct`
    observe({ stage: 'rl', done: step, total: steps, unit })
  }

  #isOutOfTime(): boolean {
    const { max_minutes: most } = this.#settings
    if (most === 0 || this.#minutes < most) return false
    this.#context.run.log(`rl: ends after step ${this.#state.step}, because rl.max_minutes is ${most}`)
    return true
  }

  /** Minutes of training so far; evaluations count, because rollouts may continue during them. */
  get #minutes(): number {
    return this.#minutesBefore + (performance.now() - this.#began) / 60_000
  }

  /** A first row, which separates this training run from earlier ones. The initial weights may turn out best. */
  async #begin(): Promise<void> {
    const row = this.#settings.eval_every > 0 ? await this.#measure(0) : {}
    this.#context.run.metric({ stage: 'rl', step: 0, begins: true, minutes: 0, ...row })
    if (this.#state.best !== undefined) await this.#save()
  }

  async #measure(step: number): Promise<MetricRow> {
    const found = await this.#evaluate(step)
    if (found === undefined) return {}
    const { accuracy, wellFormed, count } = found
    if (accuracy > (this.#state.best?.accuracy ?? Number.NEGATIVE_INFINITY) && this.#settings.keep === 'best')
      this.#state = { ...this.#state, best: { step, accuracy, folder: checkpointPath(step) } }
    return { eval_accuracy: accuracy, eval_well_formed: wellFormed, eval_count: count }
  }

  /** An interrupted evaluation is left out: the weights are saved without it. */
  async #evaluate(step: number): Promise<Measured | undefined> {
    try {
      return await this.#context.evaluate?.(step)
    } catch (cause) {
      if (step > 0 && this.#context.signal.aborted) return undefined
      throw cause
    }
  }

  /** Starts saving; training continues meanwhile. */
  async #save(): Promise<void> {
    const { run, student } = this.#context
    const [state, note] = [this.#state, this.#note(this.#rows.at(-1))]
    await this.#saves.start(async () => {
      const { last } = await saveState(run, student.engine, state, note)
      this.#state = { ...this.#state, last }
    })
  }

  #note(row: MetricRow = {}): Pick<CheckpointNote, 'parent' | 'metrics'> {
    const { parent } = this.#context.student
    const named = ['reward_mean', 'pass_rate', 'eval_accuracy'].filter(
      (name) => typeof row[name] === 'number',
    )
    const metrics = Object.fromEntries(named.map((name) => [name, Number(row[name])]))
    return { metrics, ...(parent === undefined ? {} : { parent }) }
  }

  #reportFindings(): void {
    for (const finding of diagnose(this.#rows)) this.#reportOnce(finding.id, findingText(finding))
  }

  #reportOnce(id: string, text: string): void {
    if (this.#state.told.includes(id)) return
    this.#context.run.log(`rl: ${text}`)
    this.#context.onFinding?.(text)
    this.#state = { ...this.#state, told: [...this.#state.told, id] }
  }

  #summary(checkpoint: string): RlSummary {
    // With few steps, the first and last windows must not overlap.
    const some = Math.max(1, Math.min(LAST, Math.floor(this.#rows.length / 2)))
    const late = this.#rows.slice(-some)
    const mean = (rows: readonly MetricRow[], name: string): number =>
      rows.reduce((sum, row) => sum + Number(row[name] ?? 0), 0) / Math.max(1, rows.length)
    const measured = this.#rows.findLast((row) => row['eval_accuracy'] !== undefined)
    const over = this.#earlyStop
    const best = this.#settings.keep === 'best' ? this.#state.best : undefined
    const sampled = this.#rows.reduce((sum, row) => sum + Number(row['rollouts']), 0)
    return {
      checkpoint,
      findings: diagnose(this.#rows).map(findingText),
      ...(over === undefined ? {} : { ended: over.text }),
      figures: {
        steps: this.#rows.length,
        rollouts: sampled + (over?.rollouts ?? 0),
        'pass rate at first':
          this.#rows.length === 0 ? (over?.passRate ?? 0) : mean(this.#rows.slice(0, some), 'pass_rate'),
        'pass rate at last': over?.passRate ?? mean(late, 'pass_rate'),
        ...(this.#rows.length === 0 ? {} : { reward: mean(late, 'reward_mean') }),
        ...(measured === undefined ? {} : { accuracy: Number(measured['eval_accuracy']) }),
        ...(best === undefined ? {} : { 'best accuracy': best.accuracy, 'kept step': best.step }),
      },
    }
  }
}

/** Without what only training needs. */
function withoutTokens({ promptTokens: _, ...rollout }: Rollout): Rollout {
  const spans = rollout.spans.map(({ agent, kind, text, origin }) => ({ agent, kind, text, origin }))
  return { ...rollout, prompt: [], spans }
}
