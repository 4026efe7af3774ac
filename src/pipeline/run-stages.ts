import type { ProjectConfig } from '../config/index.ts'
import type { Observe } from '../observe/index.ts'
import type { Run } from '../store/index.ts'
import type { Stage } from './stage.ts'

export interface StageOutcome {
  name: string
  purpose: string
  status: 'done' | 'already done' | 'missing'
  figures: Record<string, number>
}

/**
 * Runs the stages that exist, in order, and skips those the run's manifest has as done: this is how an interrupted
 * run goes on. A stage that is interrupted or fails is written down as such before the error goes on its way.
 */
export async function runStages(
  stages: readonly Stage[],
  context: { run: Run; config: ProjectConfig; observe: Observe; signal: AbortSignal },
): Promise<StageOutcome[]> {
  const outcomes: StageOutcome[] = []
  for (const { name, purpose, work } of stages) {
    const earlier = context.run.manifest.stages[name]
    if (work === undefined) {
      outcomes.push({ name, purpose, status: 'missing', figures: {} })
    } else if (earlier?.status === 'done') {
      outcomes.push({
        name,
        purpose,
        status: 'already done',
        figures: earlier.summary as Record<string, number>,
      })
    } else {
      outcomes.push({ name, purpose, status: 'done', figures: await runStage(name, work, context) })
    }
  }
  return outcomes
}

async function runStage(
  name: string,
  work: NonNullable<Stage['work']>,
  context: { run: Run; config: ProjectConfig; observe: Observe; signal: AbortSignal },
): Promise<Record<string, number>> {
  const { run, signal } = context
  run.setStage(name, { status: 'running' })
  try {
    signal.throwIfAborted()
    const figures = await work(context)
    run.setStage(name, { status: 'done', summary: figures })
    return figures
  } catch (error) {
    run.setStage(name, { status: signal.aborted ? 'interrupted' : 'failed' })
    run.log(`${name}: ${(error as Error).message}`)
    throw error
  }
}
