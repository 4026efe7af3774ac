import { ConfigError, EngineError } from '../../base/errors/index.ts'
import type { Observe } from '../../base/progress/index.ts'
import type { CheckpointNote, Engine } from '../../engine/contract.ts'
import type { Tokenizer } from '../../language/tokens/tokenizer.ts'
import type { ProjectSection } from '../../settings/index.ts'
import type { MetricRow } from '../../store/metrics-file.ts'
import type { Run } from '../../store/run.ts'
import type { Selected } from '../../store/selection.ts'
import { BatchPlanner } from './batch-planner.ts'
import { Checkpoints } from './checkpoints.ts'
import { sftCurve } from './curve.ts'
import { type Gathered, gather, planDigest } from './gather.ts'
import { type SftSection, type SftSettings, sftSettings } from './settings.ts'
import { type Evaluate, Training } from './training.ts'

export interface SftContext {
  run: Run
  signal: AbortSignal
  observe: Observe
  student: {
    engine: Engine
    tokenizer: Tokenizer
    /** The model it was loaded from, for the lineage. */
    parent?: CheckpointNote['parent']
  }
  /** Called once. */
  data: () => Iterable<Selected>
  /** ReAct-style sequences, mixed in at sft.react_share. */
  react?: () => Iterable<Selected>
  /** Evaluates the current weights by rollouts. A failure is logged, and training continues. */
  evaluate?: Evaluate | undefined
  /** Restart, discarding earlier checkpoints. */
  again?: boolean
  /** Called after each step. */
  onStep?: (row: MetricRow) => void
}

export interface SftSummary {
  sequences: number
  'trained on': number
  'held out': number
  'left out': number
  steps: number
  'best step': number
  [metric: string]: number
}

/**
 * Trains the student on sequences, with tool output masked. If interrupted, it resumes from its last checkpoint with
 * the same results as without the interruption.
 */
export async function run(
  config: { sft: SftSection; project: ProjectSection },
  context: SftContext,
): Promise<SftSummary> {
  const { run: folder, signal, observe, student, evaluate, onStep, again = false } = context
  const { engine, tokenizer, parent } = student
  const description = engine.describe()
  const { train: reason } = description.missing
  if (reason !== undefined) {
    throw new EngineError(`the ${description.driver} engine cannot train: ${reason}`, {
      fix: 'Set engine.driver to embedded, or to tinker with a server that trains (`coa trainer start`).',
    })
  }
  const settings = sftSettings(config, description.contextLength)
  if (settings.keep === 'accuracy' && evaluate === undefined) {
    throw new ConfigError('sft.keep is "accuracy", but accuracy is not measured', {
      fix: 'Evaluate by rollouts, or set sft.keep to "loss".',
    })
  }
  const gathered = await gather(context, settings, {
    tokenizer,
    limits: description,
    maskObservations: settings.mask_observations,
    date: new Date(folder.manifest.createdAt),
  })
  const plan = new BatchPlanner(gathered, settings)
  logPlan(folder, gathered, settings, plan)
  const digest = planDigest(gathered, settings, parent?.fingerprint)
  const checkpoints = new Checkpoints(folder, engine, digest, parent)
  if (again) checkpoints.remove()
  const training = new Training({
    folder,
    engine,
    plan,
    held: gathered.held,
    checkpoints,
    settings,
    evaluate,
    observe,
    onStep,
  })
  await training.run(signal)
  return summarize(gathered, folder, checkpoints, training.failedEvaluations)
}

/** Logs what is left out, and why. */
function logPlan(
  folder: Run,
  { chains, held, leftOut }: Gathered,
  { contexts, eval_share }: SftSettings,
  plan: BatchPlanner,
): void {
  for (const line of leftOut.lines()) folder.log(`sft: ${line}`)
  for (const { from, context } of contexts.length > 1 ? contexts : []) {
    const long = chains.filter(({ tokens }) => tokens.length > context).length
    folder.log(
      `sft: from ${from} of the training on, up to ${context} tokens; ${long} longer sequences wait or are left out`,
    )
  }
  if (held.length === 0 && eval_share > 0)
    folder.log('sft: too few tasks to hold any out, so the last checkpoint is kept instead of the best')
  folder.log(`sft: ${chains.length} sequences in ${plan.total} steps`)
}

function summarize(
  { chains, react, held, leftOut, given }: Gathered,
  folder: Run,
  checkpoints: Checkpoints,
  failedEvaluations: number,
): SftSummary {
  const curve = sftCurve(folder.metrics())
  const best = checkpoints.best()
  return {
    sequences: given,
    'trained on': chains.length + react.length,
    ...(react.length === 0 ? {} : { 'ReAct-style': react.length }),
    'held out': held.length,
    'left out': leftOut.total,
    ...Object.fromEntries(leftOut.counts().map(([reason, count]) => [`left out: ${reason}`, count])),
    steps: curve.length,
    tokens: curve.reduce((sum, { tokens }) => sum + tokens, 0),
    'trained tokens': curve.reduce((sum, { trainedTokens }) => sum + trainedTokens, 0),
    ...(curve.length === 0 ? {} : { loss: curve.at(-1)!.loss }),
    'best step': best?.step ?? 0,
    ...(best?.score.evalLoss === undefined ? {} : { 'best eval loss': best.score.evalLoss }),
    ...(best?.score.accuracy === undefined ? {} : { 'best accuracy': best.score.accuracy }),
    ...(failedEvaluations === 0 ? {} : { 'failed evaluations': failedEvaluations }),
  }
}
