import type { RolloutJob } from '../../agent/contract.ts'
import type { Rollout, Task } from '../../schema/index.ts'
import type { CompareGroup } from './compare-group.ts'
import type { RlSettings } from './config.ts'
import type { RolloutOptions } from './contract.ts'
import { KeepRate } from './dynamic-sampling.ts'
import { type FinishedGroup, finishGroup, type GroupRun, jobsOf } from './group-run.ts'
import { type PolicySteps, withPolicies } from './policy-steps.ts'
import { type SampledStep, stepOf, type TaskCursor } from './sample-step.ts'
import { type TaskPlace, taskSource } from './task-source.ts'

export interface Sampling {
  tasks: readonly Task[]
  settings: RlSettings
  rollOut: (job: RolloutJob, checkpoint: string, options: RolloutOptions) => Promise<Rollout>
  /** Gives the rollouts of a finished group verdicts relative to each other. */
  compare?: CompareGroup | undefined
  signal: AbortSignal
  policy: PolicySteps
  /** Called for every rollout as it ends. */
  onEnd?: () => void
  /** Called for every rollout of a step once the step is complete, in the order of tasks. */
  onRollout?: (rollout: Rollout, step: number, groupIndex: number) => void
}

interface Job {
  group: GroupRun
  job: RolloutJob
  number: number
}

/**
 * Keeps rollouts running. Whenever a slot is free, the next rollout starts, and a new group if it is likely to be needed:
 * the kept groups, plus as many of those running as may well be kept, must not exceed what can be trained on in time.
 *
 * Without overlap, a step is the shortest run of groups, in the order of tasks, that has enough to train on. Which groups
 * these are depends only on their outcomes, never on timing; groups started beyond them are aborted. With overlap, a step
 * takes the groups that ended, oldest first, and the others continue with the new weights until they become too old.
 */
export class RolloutPool {
  readonly #sampling: Sampling
  readonly #taskAt: (at: TaskPlace) => Task
  readonly #keepRate: KeepRate
  /** The step that is being filled. */
  #filling: number
  #cursor: TaskCursor
  readonly #done: Set<number>
  #nextPlace: number
  /** Groups started for the step. */
  #started = 0
  /** In order of start. */
  readonly #running = new Set<GroupRun>()
  #queue: Job[] = []
  /** In order of place. */
  #finished: FinishedGroup[] = []
  readonly #rollouts = new Set<Promise<void>>()
  /** The most concurrent rollouts in the step. */
  #slots = 1
  #stale = 0
  #waiting: { resolve: (step: SampledStep) => void; reject: (cause: unknown) => void } | undefined
  #ended: { cause: unknown } | undefined

  constructor(sampling: Sampling, cursor: TaskCursor) {
    this.#sampling = sampling
    this.#filling = sampling.policy.current + 1
    this.#cursor = cursor
    this.#nextPlace = cursor.place
    this.#done = new Set(cursor.done)
    this.#taskAt = taskSource(sampling.tasks, sampling.settings)
    this.#keepRate = new KeepRate(sampling.settings)
  }

  /** The next step, as soon as there are enough groups. Without overlap, the previous one must have been trained. */
  next(): Promise<SampledStep> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      if (this.#ended === undefined) this.#advance()
      else reject(this.#ended.cause)
    })
  }

  /** New weights: more may be started. */
  trained(step: number): void {
    this.#sampling.policy.trained(step)
    this.#advance()
  }

  /** Aborts what is running, and waits for it to end. */
  async close(cause: unknown = new DOMException('no longer needed', 'AbortError')): Promise<void> {
    this.#fail(cause)
    await Promise.all(this.#rollouts)
  }

  #advance(): void {
    if (this.#ended !== undefined) return
    const taken = this.#waiting === undefined ? undefined : this.#enough()
    if (taken !== undefined) {
      const { resolve } = this.#waiting!
      this.#waiting = undefined
      resolve(this.#assemble(taken))
    }
    this.#fillSlots()
  }

  /** The groups of the step, if there are enough. */
  #enough(): FinishedGroup[] | undefined {
    const { groups, overlap } = this.#sampling.settings
    let kept = 0
    let expected = this.#cursor.place
    for (const [at, { place, dropped }] of this.#finished.entries()) {
      while (this.#done.has(expected)) expected++
      if (overlap === 0 && place !== expected++) return undefined
      if (dropped === undefined) kept++
      if (kept === groups || at + 1 === this.#most) return this.#finished.slice(0, at + 1)
    }
    return undefined
  }

  /** Maximum number of groups tried for one step. */
  get #most(): number {
    const { dynamic_sampling, max_gen_batches, groups } = this.#sampling.settings
    return dynamic_sampling ? max_gen_batches * groups : groups
  }

  #assemble(taken: readonly FinishedGroup[]): SampledStep {
    const { settings, onRollout } = this.#sampling
    const found = stepOf(this.#filling, taken, settings.groups, this.#cursor)
    for (const [index, { rollouts }] of taken.entries())
      for (const rollout of rollouts) onRollout?.(rollout, found.step, index)
    this.#finished = this.#finished.slice(taken.length)
    this.#settle(taken)
    this.#filling++
    this.#started = 0
    this.#keepRate.nextStep()
    const late = this.#dropLate()
    if (settings.overlap === 0) {
      found.leftOver = late
      // Their tasks come first in the next step.
      this.#nextPlace = this.#cursor.place
    } else found.stale = late + this.#stale
    this.#stale = 0
    found.slots = this.#slots
    this.#slots = 1
    this.#cursor = { ...this.#cursor, passRates: found.next.passRates }
    found.next = { ...this.#cursor, done: [...this.#done].toSorted((one, other) => one - other) }
    return found
  }

  /** Their tasks are not sampled again, in this process or after a restart. */
  #settle(groups: Iterable<{ place: number }>): void {
    for (const { place } of groups) this.#done.add(place)
    let { place } = this.#cursor
    for (; this.#done.has(place); place++) this.#done.delete(place)
    this.#cursor = { ...this.#cursor, place }
  }

  #isLate(oldest: number): boolean {
    return this.#filling - 1 - oldest > this.#sampling.settings.overlap
  }

  /** Drops groups that could only be trained on too late, and returns how many. */
  #dropLate(): number {
    const running = [...this.#running].filter(({ began }) => this.#isLate(began))
    const finished = this.#finished.filter(({ oldest }) => this.#isLate(oldest))
    for (const group of running) this.#abort(group)
    this.#finished = this.#finished.filter(({ oldest }) => !this.#isLate(oldest))
    if (this.#sampling.settings.overlap > 0) this.#settle([...running, ...finished])
    return running.length + finished.length
  }

  #abort(group: GroupRun, cause?: unknown): void {
    this.#running.delete(group)
    this.#queue = this.#queue.filter((job) => job.group !== group)
    group.abort.abort(cause)
  }

  #fillSlots(): void {
    const { concurrency } = this.#sampling.settings
    while (this.#rollouts.size < concurrency) {
      if (this.#queue.length === 0 && !this.#startGroup()) return
      const promise: Promise<void> = this.#run(this.#queue.shift()!).finally(() => {
        this.#rollouts.delete(promise)
        this.#advance()
      })
      this.#rollouts.add(promise)
      this.#slots = Math.max(this.#slots, this.#rollouts.size)
    }
  }

  /** Starts a group, unless it is unlikely to be needed or could only be trained on too late. */
  #startGroup(): boolean {
    const { policy, settings } = this.#sampling
    const { groups, overlap, steps } = settings
    const open = Math.min(policy.current + 1 + overlap, steps) - (this.#filling - 1)
    if (this.#finished.length + this.#running.size >= this.#most * open) return false
    const kept = this.#finished.filter(({ dropped }) => dropped === undefined).length
    if (kept + this.#keepRate.optimistic(this.#running.size) >= groups * open) return false
    while (this.#done.has(this.#nextPlace)) this.#nextPlace++
    const [place, index, step] = [this.#nextPlace++, this.#started++, this.#filling]
    const task = this.#taskAt({ place, step, index, passRates: this.#cursor.passRates })
    const group: GroupRun = {
      id: `rl-${step}-${index}`,
      task,
      place,
      began: policy.current,
      abort: new AbortController(),
      rollouts: Array.from({ length: settings.group_size }),
    }
    this.#running.add(group)
    // Next to each other, so that the sampler computes their prompt once.
    const jobs = jobsOf(settings, group, step, index)
    this.#queue.push(...jobs.map((job, number) => ({ group, job, number })))
    return true
  }

  async #run({ group, job, number }: Job): Promise<void> {
    const { policy, signal, rollOut, onEnd } = this.#sampling
    const began = policy.current
    const needed = AbortSignal.any([signal, group.abort.signal])
    try {
      const rollout = await rollOut(job, `rl@${began}`, {
        signal: needed,
        stepOf: (version) => policy.stepOf(version),
      })
      if (!this.#running.has(group)) return
      group.rollouts[number] = withPolicies(rollout, began)
      onEnd?.()
      if (group.rollouts.every((each) => each !== undefined)) await this.#conclude(group, needed)
    } catch (cause) {
      if (!group.abort.signal.aborted) this.#fail(cause)
    }
  }

  async #conclude(group: GroupRun, signal: AbortSignal): Promise<void> {
    const { settings, compare } = this.#sampling
    if (compare !== undefined) {
      const rollouts = group.rollouts.flatMap((each) => each ?? [])
      group.rollouts = await compare(group.task, rollouts, signal)
      signal.throwIfAborted()
    }
    this.#finish(finishGroup(group, settings), group)
  }

  #finish(finished: FinishedGroup, group: GroupRun): void {
    this.#running.delete(group)
    this.#keepRate.add(finished.dropped === undefined)
    if (this.#isLate(finished.oldest)) {
      this.#stale++
      this.#settle([finished])
      return
    }
    const at = this.#finished.findIndex(({ place }) => place > finished.place)
    this.#finished.splice(at === -1 ? this.#finished.length : at, 0, finished)
  }

  #fail(cause: unknown): void {
    this.#ended ??= { cause }
    this.#waiting?.reject(cause)
    for (const group of [...this.#running]) this.#abort(group, cause)
  }
}
