import type { Stage, StageContext } from './stage.ts'

export interface StageOutcome {
  name: string
  purpose: string
  status: 'done' | 'already done'
  figures: Record<string, number>
}

type StageStatus = 'running' | 'interrupted' | 'failed' | StageOutcome['status']

export interface RunStagesContext extends StageContext {
  /** Told how a stage stands whenever that changes. */
  onStage?: (stage: Stage, status: StageStatus, figures: StageOutcome['figures']) => void
}

/**
 * Runs the stages in order and skips those the run's manifest has as done: this is how an interrupted run goes on. A
 * stage that is interrupted or fails is written down as such before the error goes on its way.
 */
export async function runStages(
  stages: readonly Stage[],
  context: RunStagesContext,
): Promise<StageOutcome[]> {
  const { run, onStage } = context
  const outcomes: StageOutcome[] = []
  for (const stage of stages) {
    const { name, purpose } = stage
    const earlier = run.manifest.stages[name]
    const status = earlier?.status === 'done' ? 'already done' : 'done'
    const figures =
      status === 'done' ? await runStage(stage, context) : (earlier!.summary as Record<string, number>)
    onStage?.(stage, status, figures)
    outcomes.push({ name, purpose, status, figures })
  }
  return outcomes
}

async function runStage(stage: Stage, context: RunStagesContext): Promise<Record<string, number>> {
  const { run, signal, onStage } = context
  const { name, work } = stage
  run.setStage(name, { status: 'running' })
  onStage?.(stage, 'running', {})
  try {
    signal.throwIfAborted()
    const figures = await work(context)
    run.setStage(name, { status: 'done', summary: figures })
    return figures
  } catch (error) {
    const status = signal.aborted ? 'interrupted' : 'failed'
    run.setStage(name, { status })
    run.log(`${name}: ${(error as Error).message}`)
    onStage?.(stage, status, {})
    throw error
  }
}
