import { setImmediate } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { allFailed, CoaError, type Failure, UsageError } from '../../base/errors/index.ts'
import type { Observe } from '../../base/progress/index.ts'
import type { LanguageSection } from '../../language/settings.ts'
import { reactId, type Stream, type Trajectory } from '../../schema/index.ts'
import type { Run } from '../../store/index.ts'
import { languageOf, toolsToDeclare, withTools } from '../../world/index.ts'
import { distillTrajectory, sequenceId } from './distill-trajectory.ts'
import { markedRollouts } from './marked-rollouts.ts'
import { reactOf } from './react.ts'
import { type DistillSection, distillSettings } from './settings.ts'
import { distillSmoothly, type Smooth } from './smooth.ts'
import { type DistillSummary, Tally } from './tally.ts'

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
  /** Do not write sequences with text that looks like tool output. */
  strict?: boolean
  /** Redo trajectories that were distilled before; other settings give other sequences. */
  again?: boolean
  /** Make ReAct-style sequences too. Default: if sft.react_share is above 0. */
  react?: boolean
  /** Smooths the transitions between agents. */
  smooth?: Smooth
}

/**
 * Distills every trajectory of a run that has no sequence yet. A failure is logged and the rest continues; but if
 * every trajectory fails, or had failed when it was recorded, so does the stage.
 */
export async function run(config: DistillConfig, context: DistillContext): Promise<DistillSummary> {
  const { run, signal, observe, dryRun = false, again = false, strict = false } = context
  const react = context.react ?? config.sft.react_share > 0
  let language = languageOf(config.language, run)
  let { grammarOf, ...options } = await distillSettings(config, language)
  const tally = new Tally()
  const heldOut = new Set(
    [...run.scan('task')].flatMap(({ id, meta }) => (meta['for'] === 'eval' ? [id] : [])),
  )
  const marked = [...markedRollouts(run, (taskId) => heldOut.has(taskId))]
  const total = run.count('trajectory')
  if (total === 0 && marked.length === 0) throw nothingToDistill(run)
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
    const missing = toolsToDeclare(trajectory, language)
    if (missing.length > 0) {
      if (!dryRun) run.appendMany('tool', missing)
      language = withTools(language, missing)
      ;({ grammarOf, ...options } = await distillSettings(config, language))
    }
    const grammar = grammarOf(trajectory.meta['domain'])
    const before = again ? undefined : run.get('sequence', sequenceId(trajectory.id))
    const sequence = before ?? (await attempt(trajectory, { grammar, ...options }, context))
    if (typeof sequence === 'string') {
      tally.fail(trajectory.id, sequence)
      failures.here.push({ boundary: 'usage', message: sequence })
      if (!dryRun) run.log(`distill: ${trajectory.id}: ${sequence}`)
    } else {
      if (before !== undefined) tally.figures['already distilled']!++
      else if (strict && sequence.meta['toolLike'] !== undefined) {
        tally.refuse(sequence)
        continue
      } else {
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
  for (const sequence of marked) {
    const before = again ? undefined : run.get('sequence', sequence.id)
    if (isDeepStrictEqual(before, sequence)) tally.figures['already distilled']!++
    else {
      tally.addMarked(sequence)
      batch.push(sequence)
    }
  }
  await flush()
  const tried = done - passedOver
  if (tried > 0 && failures.before.length === tried)
    throw allFailed('team runs', failures.before, 'Fix the cause and record them again.')
  if (tried > 0 && failures.here.length === tried)
    throw allFailed('team runs', failures.here, 'Inspect one with `coa distill explain`.')
  return tally.summary()
}

function nothingToDistill(run: Run): UsageError {
  const rollouts = run.count('rollout')
  if (rollouts === 0)
    return new UsageError(`run ${run.id} has no team trajectories to distill`, {
      fix: 'Record some with `coa teach`, or name another run.',
    })
  return new UsageError(
    `run ${run.id} has no team trajectories to distill, and none of its ${rollouts} rollouts is marked good`,
    { fix: 'Mark some: `POST /v1/feedback` of `coa serve --record`, or `coa teach` a team.' },
  )
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
