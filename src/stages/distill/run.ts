import { setImmediate } from 'node:timers/promises'
import { allFailed, CoaError, type Failure, UsageError } from '../../base/errors/index.ts'
import type { Observe } from '../../base/progress/index.ts'
import type { LanguageSection } from '../../language/settings.ts'
import { reactId, type Stream, type Trajectory } from '../../schema/index.ts'
import type { Run } from '../../store/index.ts'
import { languageOf } from '../../world/index.ts'
import { distillSettings } from './config.ts'
import { distillTrajectory, sequenceId } from './distill-trajectory.ts'
import { reactOf } from './react.ts'
import type { DistillSection } from './settings.ts'
import { distillSmoothly, type Smooth } from './smooth.ts'

/** Sequences written together; between two batches others get a turn. */
const BATCH = 100

export interface DistillConfig {
  distill: DistillSection
  language: LanguageSection
  /** SFT says whether it wants ReAct-style sequences. */
  sft: { react_share: number }
}

export interface DistillContext {
  run: Run
  signal: AbortSignal
  observe: Observe
  /** Count only; nothing is written. */
  dryRun?: boolean
  /** Also those that were distilled before: with other settings they become other sequences. */
  again?: boolean
  /** ReAct-style sequences too. Default: where sft.react_share asks for them. */
  react?: boolean
  /** Smooths the joints between agents. */
  smooth?: Smooth
}

export interface DistillSummary {
  figures: Record<string, number>
  /** How often each kind of problem occurred, the most frequent first. */
  problems: { problem: string; count: number; example: string }[]
}

/**
 * Makes a sequence of every trajectory of a run that has none yet. A run that fails is written down, and the rest goes
 * on; but if all fail, or all had failed when they were recorded, so does the stage.
 */
export async function run(config: DistillConfig, context: DistillContext): Promise<DistillSummary> {
  const { run, signal, observe, dryRun = false, again = false, react = config.sft.react_share > 0 } = context
  const { map, quotes, thoughts, grammarOf } = await distillSettings(config, languageOf(config.language, run))
  const tally = new Tally()
  const heldOut = new Set(
    [...run.scan('task')].flatMap(({ id, meta }) => (meta['for'] === 'eval' ? [id] : [])),
  )
  const total = run.count('trajectory')
  if (total === 0) {
    throw new UsageError(`run ${run.id} has no runs of a team to distill`, {
      fix: 'Record some with `coa teach`, or name another run.',
    })
  }
  const failures: { before: Failure[]; here: Failure[] } = { before: [], here: [] }
  let batch: Stream[] = []
  let done = 0
  let passedOver = 0
  const flush = async (): Promise<void> => {
    if (!dryRun) run.appendMany('sequence', batch)
    batch = []
    observe({ stage: 'distill', done, total, unit: 'trajectories' })
    await setImmediate()
    signal.throwIfAborted()
  }
  for (const trajectory of run.scan('trajectory')) {
    done++
    // What is there to measure with is not learned, in whichever order stages are run.
    if (heldOut.has(trajectory.taskId)) {
      passedOver++
      continue
    }
    const failed = trajectory.answer === undefined ? failureOf(trajectory) : undefined
    if (failed !== undefined) failures.before.push(failed)
    const grammar = grammarOf(trajectory.meta['domain'])
    const before = again ? undefined : run.get('sequence', sequenceId(trajectory.id))
    const sequence = before ?? (await attempt(trajectory, { grammar, map, quotes, thoughts }, context))
    if (typeof sequence === 'string') {
      tally.fail(trajectory.id, sequence)
      failures.here.push({ boundary: 'usage', message: sequence })
      if (!dryRun) run.log(`distill: ${trajectory.id}: ${sequence}`)
    } else {
      if (before !== undefined) tally.figures['already there']!++
      else {
        tally.add(sequence)
        batch.push(sequence)
      }
      const madeBefore = run.has('sequence', reactId(trajectory.id))
      // One that was made from another sequence must not stay behind.
      if (before === undefined ? react || madeBefore : react && !madeBefore) {
        const made = reactOf(sequence, grammar)
        tally.addReact(sequence.id, made)
        if (typeof made !== 'string') batch.push(made)
      }
    }
    if (done % BATCH === 0) await flush()
  }
  await flush()
  const tried = done - passedOver
  if (tried > 0 && failures.before.length === tried)
    throw allFailed('runs of the team', failures.before, 'Correct the cause and record them again.')
  if (tried > 0 && failures.here.length === tried)
    throw allFailed('runs of the team', failures.here, 'Look at one with `coa distill explain`.')
  return tally.summary()
}

/** Why a run of the team ended without an answer. What was imported incompletely is told of elsewhere. */
function failureOf({ events }: Trajectory): Failure | undefined {
  const failed = events.findLast((event) => event.type === 'failed')
  return failed === undefined || failed.boundary === 'import' ? undefined : failed
}

async function attempt(
  trajectory: Trajectory,
  options: Parameters<typeof distillTrajectory>[1],
  { smooth, signal }: DistillContext,
): Promise<Stream | string> {
  try {
    return smooth === undefined
      ? distillTrajectory(trajectory, options)
      : await distillSmoothly(trajectory, { ...options, smooth, signal })
  } catch (error) {
    if (!CoaError.isInstance(error) || signal.aborted) throw error
    return error.message
  }
}

class Tally {
  readonly figures: Record<string, number> = {
    sequences: 0,
    'already there': 0,
    'within the grammar': 0,
    'with problems': 0,
    unanswered: 0,
    'saw the gold answer': 0,
    failed: 0,
  }
  readonly #problems = new Map<string, { count: number; example: string }>()

  add({ id, meta, provenance }: Stream): void {
    const problems = Array.isArray(meta['problems']) ? meta['problems'].map(String) : []
    this.figures['sequences']!++
    this.figures[problems.length === 0 ? 'within the grammar' : 'with problems']!++
    if (meta['unanswered'] === true) this.figures['unanswered']!++
    if (provenance?.sawGold === true) this.figures['saw the gold answer']!++
    for (const problem of new Set(problems.map(kindOf))) this.#count(problem, id)
  }

  addReact(id: string, made: Stream | string): void {
    if (typeof made === 'string') this.#count(`no ReAct-style sequence: ${made}`, id)
    else this.figures['ReAct-style'] = (this.figures['ReAct-style'] ?? 0) + 1
  }

  fail(id: string, message: string): void {
    this.figures['failed']!++
    this.#count(message, id)
  }

  #count(problem: string, example: string): void {
    const known = this.#problems.get(problem)
    if (known === undefined) this.#problems.set(problem, { count: 1, example })
    else known.count++
  }

  summary(): DistillSummary {
    const problems = [...this.#problems].map(([problem, found]) => ({ problem, ...found }))
    return { figures: this.figures, problems: problems.sort((left, right) => right.count - left.count) }
  }
}

/** The same problem at another turn is the same problem. */
function kindOf(problem: string): string {
  return problem.replace(/^turn \d+: /, '')
}
