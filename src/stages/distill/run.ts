import { setImmediate } from 'node:timers/promises'
import { allFailed, CoaError, type Failure, UsageError } from '../../base/errors/index.ts'
import type { Observe } from '../../base/progress/index.ts'
import type { LanguageSection } from '../../language/settings.ts'
import { reactId, type Stream, type Trajectory } from '../../schema/index.ts'
import type { Run } from '../../store/index.ts'
import { languageOf } from '../../world/index.ts'
import { distillTrajectory, sequenceId } from './distill-trajectory.ts'
import { reactOf } from './react.ts'
import { type DistillSection, distillSettings } from './settings.ts'
import { distillSmoothly, type Smooth } from './smooth.ts'
import { LEFT } from './voice.ts'

/** Sequences per write; between batches the event loop gets a turn. */
const BATCH = 100

export interface DistillConfig {
  distill: DistillSection
  language: LanguageSection
  /** SFT decides whether ReAct-style sequences are needed. */
  sft: { react_share: number }
}

export interface DistillContext {
  run: Run
  signal: AbortSignal
  observe: Observe
  /** Count only; nothing is written. */
  dryRun?: boolean
  /** Redo trajectories that were distilled before; other settings give other sequences. */
  again?: boolean
  /** Make ReAct-style sequences too. Default: if sft.react_share is above 0. */
  react?: boolean
  /** Smooths the transitions between agents. */
  smooth?: Smooth
}

export interface DistillSummary {
  figures: Record<string, number>
  /** How often each kind of problem occurred, most frequent first. */
  problems: { problem: string; count: number; example: string }[]
  /** How often each voice rule changed something, most frequent first; the sum is in the figures. */
  voice: { rule: string; count: number }[]
}

/**
 * Distills every trajectory of a run that has no sequence yet. A failure is logged and the rest continues; but if
 * every trajectory fails, or had failed when it was recorded, so does the stage.
 */
export async function run(config: DistillConfig, context: DistillContext): Promise<DistillSummary> {
  const { run, signal, observe, dryRun = false, again = false, react = config.sft.react_share > 0 } = context
  const { grammarOf, ...options } = await distillSettings(config, languageOf(config.language, run))
  const tally = new Tally()
  const heldOut = new Set(
    [...run.scan('task')].flatMap(({ id, meta }) => (meta['for'] === 'eval' ? [id] : [])),
  )
  const total = run.count('trajectory')
  if (total === 0) {
    throw new UsageError(`run ${run.id} has no team trajectories to distill`, {
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
    // Evaluation tasks are never trained on, in whichever order stages are run.
    if (heldOut.has(trajectory.taskId)) {
      passedOver++
      continue
    }
    const failed = trajectory.answer === undefined ? failureOf(trajectory) : undefined
    if (failed !== undefined) failures.before.push(failed)
    const grammar = grammarOf(trajectory.meta['domain'])
    const before = again ? undefined : run.get('sequence', sequenceId(trajectory.id))
    const sequence = before ?? (await attempt(trajectory, { grammar, ...options }, context))
    if (typeof sequence === 'string') {
      tally.fail(trajectory.id, sequence)
      failures.here.push({ boundary: 'usage', message: sequence })
      if (!dryRun) run.log(`distill: ${trajectory.id}: ${sequence}`)
    } else {
      if (before !== undefined) tally.figures['already distilled']!++
      else {
        tally.add(sequence)
        batch.push(sequence)
      }
      const madeBefore = run.has('sequence', reactId(trajectory.id))
      // A ReAct-style sequence made from an outdated sequence must be replaced.
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
    throw allFailed('team runs', failures.before, 'Fix the cause and record them again.')
  if (tried > 0 && failures.here.length === tried)
    throw allFailed('team runs', failures.here, 'Inspect one with `coa distill explain`.')
  return tally.summary()
}

/** Why a team run ended without an answer. Incomplete imports are reported elsewhere. */
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
    'already distilled': 0,
    'within the grammar': 0,
    'with problems': 0,
    unanswered: 0,
    'saw the gold answer': 0,
    failed: 0,
  }
  readonly #problems = new Map<string, { count: number; example: string }>()
  readonly #voice = new Map<string, number>()

  add({ id, meta, provenance }: Stream): void {
    const problems = Array.isArray(meta['problems']) ? meta['problems'].map(String) : []
    this.figures['sequences']!++
    this.figures[problems.length === 0 ? 'within the grammar' : 'with problems']!++
    if (meta['unanswered'] === true) this.figures['unanswered']!++
    if (provenance?.sawGold === true) this.figures['saw the gold answer']!++
    for (const problem of new Set(problems.map(kindOf))) this.#count(problem, id)
    for (const [rule, count] of countsOf(meta['voice'])) {
      this.#voice.set(rule, (this.#voice.get(rule) ?? 0) + count)
      this.#raise(rule === LEFT ? 'voice matches left alone' : 'voice changes', count)
    }
    if (Array.isArray(meta['smoothed'])) this.#raise('smoothed blocks', meta['smoothed'].length)
    for (const [reason, count] of countsOf(meta['smoothingRejected'])) {
      this.#raise('smoothing rejected', count)
      this.#count(`smoothing rejected: ${reason}`, id)
    }
  }

  addReact(id: string, made: Stream | string): void {
    if (typeof made === 'string') this.#count(`no ReAct-style sequence: ${made}`, id)
    else this.#raise('ReAct-style', 1)
  }

  fail(id: string, message: string): void {
    this.figures['failed']!++
    this.#count(message, id)
  }

  /** Figures that are shown only where there is something to count. */
  #raise(figure: string, by: number): void {
    this.figures[figure] = (this.figures[figure] ?? 0) + by
  }

  #count(problem: string, example: string): void {
    const known = this.#problems.get(problem)
    if (known === undefined) this.#problems.set(problem, { count: 1, example })
    else known.count++
  }

  summary(): DistillSummary {
    const problems = [...this.#problems].map(([problem, found]) => ({ problem, ...found }))
    const voice = [...this.#voice].map(([rule, count]) => ({ rule, count }))
    return {
      figures: this.figures,
      problems: problems.sort((left, right) => right.count - left.count),
      voice: voice.sort((left, right) => right.count - left.count),
    }
  }
}

/** Counts by name, as they are stored in the metadata of a sequence. */
function countsOf(value: unknown): [string, number][] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  return Object.entries(value).filter((entry): entry is [string, number] => typeof entry[1] === 'number')
}

/** The same problem at another turn counts as the same problem. */
function kindOf(problem: string): string {
  return problem.replace(/^turn \d+: /, '')
}
