import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { RolloutJob } from '../../src/agent/contract.ts'
import { fractionOf } from '../../src/base/random/index.ts'
import { ProjectConfig } from '../../src/pipeline/settings.ts'
import type { Rollout } from '../../src/schema/index.ts'
import { rlSettings } from '../../src/stages/rl/config.ts'
import type { RolloutOptions } from '../../src/stages/rl/contract.ts'
import { PolicySteps, policiesOf } from '../../src/stages/rl/policy-steps.ts'
import { RolloutPool } from '../../src/stages/rl/rollout-pool.ts'
import type { SampledStep, TaskCursor } from '../../src/stages/rl/sample-step.ts'
import { howMany } from '../how-many.ts'
import { spansFrom } from '../rollout/spans.ts'
import { makeRollout, makeTask, wrong } from './make-rollout.ts'
import { VirtualClock } from './virtual-clock.ts'

/** Of suites of different sizes, each with more tasks than are used. */
const tasks = Array.from({ length: 2000 }, (_, number) =>
  makeTask(`t${number}`, { suite: number % 5 === 0 ? 'few' : number % 3 === 0 ? 'some' : 'many' }),
)
const start: TaskCursor = { place: 0, done: [], passRates: {} }

interface Scenario {
  overlap: number
  steps: number
  groups: number
  group_size: number
  concurrency: number
  dynamic_sampling: boolean
  max_gen_batches: number
  balance: boolean
  /** Share of rollouts that are correct, that fail and that take ten times as long. */
  correct: number
  failing: number
  slow: number
  trainMs: number
  updates: number
  /** Timings depend on it, and nothing else does. */
  timing: number
}

const scenario = fc.record<Scenario>({
  overlap: fc.integer({ min: 0, max: 4 }),
  steps: fc.integer({ min: 1, max: 7 }),
  groups: fc.integer({ min: 1, max: 4 }),
  group_size: fc.integer({ min: 2, max: 4 }),
  concurrency: fc.integer({ min: 1, max: 20 }),
  dynamic_sampling: fc.boolean(),
  max_gen_batches: fc.integer({ min: 1, max: 6 }),
  balance: fc.boolean(),
  correct: fc.constantFrom(0, 0.2, 0.5, 0.9, 1),
  failing: fc.constantFrom(0, 0.2, 1),
  slow: fc.constantFrom(0, 0.1, 0.5),
  trainMs: fc.constantFrom(0, 5, 30, 200),
  updates: fc.integer({ min: 1, max: 3 }),
  timing: fc.nat(1000),
})

/** An engine that only has a version: each token knows the one that sampled it. */
class Simulation {
  readonly clock = new VirtualClock()
  readonly steps: SampledStep[] = []
  readonly records: string[] = []
  /** The true policy of every token, by rollout. */
  readonly truth = new Map<string, number[]>()
  version = 17
  /** Versions at which a step was complete. */
  readonly #stepOf = new Map<number, number>()
  running = 0
  mostRunning = 0
  readonly #given: Scenario

  constructor(given: Scenario) {
    this.#given = given
  }

  #trueStep(first: number): number {
    for (let version = this.version; version >= 17; version--) {
      const step = this.#stepOf.get(version)
      if (step !== undefined) return step
    }
    return first
  }

  async rollOut(
    { id, groupId, task, seed }: RolloutJob,
    checkpoint: string,
    { signal, stepOf }: RolloutOptions,
    first: number,
  ): Promise<Rollout> {
    const { correct, failing, slow, timing } = this.#given
    const chance = (...parts: (string | number)[]): number => fractionOf('simulated', seed, ...parts)
    const pace = fractionOf('pace', timing, id) < slow ? 50 : 5
    this.mostRunning = Math.max(this.mostRunning, ++this.running)
    try {
      const truth: number[] = []
      const parts: Parameters<typeof spansFrom>[0][number][] = [{ prompt: [1, 2] }]
      for (let request = 0; request < 2; request++) {
        const versions: number[] = []
        for (let token = 0; token < 2; token++) {
          await this.clock.sleep(pace * fractionOf('token', timing, id, request, token), signal)
          versions.push(this.version)
          truth.push(this.#trueStep(first))
        }
        const policies = versions.map((version) => ({ step: stepOf(version), tokens: 1 }))
        parts.push({ sampled: [3, 4], policies })
      }
      this.truth.set(id, truth)
      return makeRollout({
        id,
        groupId,
        taskId: task.id,
        seed,
        checkpoint,
        ...spansFrom(parts),
        ...(chance('correct') < correct ? {} : { verdict: wrong }),
        ...(chance('fails') < failing ? { failure: { boundary: 'tool', message: 'gone' } } : {}),
        ...(chance('time') < failing / 4 ? { stop: 'time' as const } : {}),
      })
    } finally {
      this.running--
    }
  }

  /** Samples and "trains" up to a step; returns the cursor after it. */
  async train(first = 0, cursor = start, last = this.#given.steps): Promise<TaskCursor> {
    const { trainMs, updates, concurrency, timing, ...rl } = this.#given
    const { correct, failing, slow, ...section } = rl
    const settings = rlSettings(ProjectConfig.parse({ rl: section, rollout: { concurrency } }))
    const policy = new PolicySteps(first)
    const pool = new RolloutPool(
      {
        tasks,
        settings,
        policy,
        signal: new AbortController().signal,
        rollOut: (job, checkpoint, options) => this.rollOut(job, checkpoint, options, first),
        onRollout: (rollout, step, index) => this.records.push(JSON.stringify([step, index, rollout])),
      },
      cursor,
    )
    const pause = (...parts: (string | number)[]): Promise<void> =>
      this.clock.sleep(trainMs * fractionOf('train', timing, ...parts))
    const learn = async (): Promise<TaskCursor> => {
      let found = cursor
      for (let step = first + 1; step <= last; step++) {
        const sampled = await pool.next()
        this.steps.push(sampled)
        found = sampled.next
        if (sampled.kept.length === 0) break
        await pause(step)
        for (let update = 0; update < updates; update++) {
          const isLast = update === updates - 1
          policy.updating(isLast ? step : undefined)
          // The result of the update arrives later than the weights change.
          await pause(step, update, 'before')
          this.version++
          if (isLast) this.#stepOf.set(this.version, step)
          await pause(step, update, 'after')
        }
        pool.trained(step)
      }
      await pool.close()
      return found
    }
    return this.clock.until(learn())
  }
}

describe('rollouts that continue while the weights change', () => {
  it('are never older than allowed, know the policy of every token, and come in full steps', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async (given) => {
        const simulation = new Simulation(given)
        await simulation.train()
        expect(simulation.mostRunning).toBeLessThanOrEqual(given.concurrency)
        expect(simulation.running).toBe(0)
        const trained = new Set<string>()
        let settled = 0
        for (const { step, kept, tried, stale, next, shortage, leftOver, rollouts } of simulation.steps) {
          expect(kept.length === given.groups || shortage !== undefined).toBe(true)
          expect(tried).toBeLessThanOrEqual(
            given.groups * (given.dynamic_sampling ? given.max_gen_batches : 1),
          )
          expect(given.overlap === 0 ? stale : leftOver).toBe(0)
          for (const { id, members } of kept) {
            expect(trained.has(id)).toBe(false)
            trained.add(id)
            for (const { rollout } of members) {
              const recorded = policiesOf(rollout).flatMap((run) => Array<number>(run.tokens).fill(run.step))
              expect(recorded).toEqual(simulation.truth.get(rollout.id))
              for (const policy of recorded) {
                expect(step - 1 - policy).toBeLessThanOrEqual(given.overlap)
                expect(step - 1 - policy).toBeGreaterThanOrEqual(0)
              }
            }
          }
          // Every task is used once, and none is skipped.
          settled += tried + stale
          expect(next.place + next.done.length).toBe(settled)
          expect(rollouts.length).toBe(tried * given.group_size)
        }
      }),
      { numRuns: howMany(1000) },
    )
  })

  it('give the same records whatever the timing, without overlap', async () => {
    await fc.assert(
      fc.asyncProperty(
        scenario,
        fc.nat(1000),
        fc.integer({ min: 1, max: 20 }),
        async (given, other, slots) => {
          const one = new Simulation({ ...given, overlap: 0 })
          await one.train()
          const two = new Simulation({ ...given, overlap: 0, timing: other, slow: 0.3, concurrency: slots })
          await two.train()
          expect(two.records).toEqual(one.records)
          expect(two.steps.map(({ next }) => next)).toEqual(one.steps.map(({ next }) => next))
        },
      ),
      { numRuns: howMany(500) },
    )
  })

  it('neither lose nor repeat a task after a restart from a checkpoint', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, fc.integer({ min: 1, max: 6 }), async (given, kill) => {
        const saved = Math.min(kill, given.steps)
        const one = new Simulation(given)
        const cursor = await one.train(0, start, saved)
        const before = one.steps.at(-1)!
        if (before.step < saved || before.kept.length === 0) return
        const two = new Simulation({ ...given, timing: given.timing + 1 })
        await two.train(saved, JSON.parse(JSON.stringify(cursor)) as TaskCursor)
        const used = [...one.steps, ...two.steps].flatMap(({ rollouts }) =>
          rollouts.map(({ id, taskId }) => [id, taskId]),
        )
        const seen = new Map<string, string>()
        for (const [id, taskId] of used) {
          const groupId = id!.replace(/-\d+$/, '')
          expect(seen.get(taskId!) ?? groupId).toBe(groupId)
          seen.set(taskId!, groupId)
        }
        const settled = [...one.steps, ...two.steps].reduce((sum, { tried, stale }) => sum + tried + stale, 0)
        const { place, done } = (two.steps.at(-1) ?? before).next
        expect(place + done.length).toBe(settled)
      }),
      { numRuns: howMany(300) },
    )
  })

  it('fill the steps of an overlapping run from several policies, and drop what becomes too old', async () => {
    const given: Scenario = {
      overlap: 1,
      steps: 20,
      groups: 4,
      group_size: 4,
      concurrency: 24,
      dynamic_sampling: true,
      max_gen_batches: 10,
      balance: false,
      correct: 0.5,
      failing: 0,
      slow: 0.05,
      trainMs: 10,
      updates: 1,
      timing: 1,
    }
    const simulation = new Simulation(given)
    await simulation.train()
    expect(simulation.steps.length).toBe(20)
    const mixed = simulation.steps.flatMap(({ kept }) =>
      kept.flatMap(({ members }) =>
        members.filter(({ rollout }) => new Set(policiesOf(rollout).map(({ step }) => step)).size > 1),
      ),
    )
    expect(mixed.length).toBeGreaterThan(20)
    expect(simulation.steps.reduce((sum, { stale }) => sum + stale, 0)).toBeGreaterThan(0)
    // Without overlap the same work takes longer.
    const serial = new Simulation({ ...given, overlap: 0 })
    await serial.train()
    expect(simulation.clock.now).toBeLessThan(0.8 * serial.clock.now)
  })
})
