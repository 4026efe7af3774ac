import type { Stage, StageContext } from '../stages/stage.ts'
import { runStage } from './run-stage.ts'
import type { ProjectConfig } from './settings.ts'

export interface StageOutcome {
  name: string
  purpose: string
  status: 'done' | 'already done'
  figures: Record<string, number>
}

type StageStatus = 'running' | 'interrupted' | 'failed' | StageOutcome['status']

export interface RunStagesContext extends StageContext<ProjectConfig> {
  /** Called whenever the status of a stage changes. */
  onStage?: (stage: Stage<ProjectConfig>, status: StageStatus, figures: StageOutcome['figures']) => void
}

/**
 * Runs stages in order and skips those that the run's manifest lists as done, which is how an interrupted run is resumed.
 *
 * @example
 * import { createRun, projectConfig, runStages, stages } from 'chain-of-agents'
 *
 * const { config } = projectConfig({ file: 'coa.toml' })
 * using run = createRun(config.project.runs, { command: 'my program', coa: '0.1.0' })
 * const signal = AbortSignal.timeout(3_600_000)
 * const outcomes = await runStages(stages, { run, config, signal, observe: () => {} })
 * console.table(outcomes)
 */
export async function runStages(
  stages: readonly Stage<ProjectConfig>[],
  context: RunStagesContext,
): Promise<StageOutcome[]> {
  const { run, signal, onStage } = context
  const outcomes: StageOutcome[] = []
  for (const stage of stages) {
    const { name, purpose } = stage
    const earlier = run.manifest.stages[name]
    if (earlier?.status === 'done') {
      const figures = earlier.summary as Record<string, number>
      onStage?.(stage, 'already done', figures)
      outcomes.push({ name, purpose, status: 'already done', figures })
      continue
    }
    onStage?.(stage, 'running', {})
    try {
      const { figures } = await runStage(stage, context)
      onStage?.(stage, 'done', figures)
      outcomes.push({ name, purpose, status: 'done', figures })
    } catch (error) {
      onStage?.(stage, signal.aborted ? 'interrupted' : 'failed', {})
      throw error
    }
  }
  return outcomes
}
