import { join } from 'node:path'
import { writeToml } from '../settings/index.ts'
import type { Stage, StageContext, StageSummary } from '../stages/stage.ts'
import { writeSettingsFile } from '../store/index.ts'

/** The settings a stage was last started with, so that `coa run resume` can use the same ones. */
export function stageSettingsFile(dir: string, stage: string): string {
  return join(dir, `${stage}.toml`)
}

/**
 * Runs one stage and records its status in the run: running, then done with its metrics, failed or interrupted. Nothing else
 * records a stage. In a run opened for reading, as for a dry run, nothing is recorded.
 *
 * @example
 * import { distill, openRun, projectConfig, runStage } from 'chain-of-agents'
 *
 * const { config } = projectConfig({ file: 'coa.toml' })
 * using run = openRun('runs/my-run', { write: true })
 * const signal = AbortSignal.timeout(60_000)
 * const { figures } = await runStage(distill, { run, config, signal, observe: () => {} }, { dryRun: true })
 */
export async function runStage<Config extends object, Options extends object, Summary extends StageSummary>(
  stage: Pick<Stage<Config, Options, Summary>, 'name' | 'run'>,
  context: StageContext<Config>,
  options?: Options,
): Promise<Summary> {
  const { run, config, signal } = context
  const { name } = stage
  if (!run.writable) return stage.run(context, options)
  writeSettingsFile(stageSettingsFile(run.dir, name), writeToml(config))
  run.setStage(name, { status: 'running' })
  try {
    signal.throwIfAborted()
    const summary = await stage.run(context, options)
    run.setStage(name, { status: 'done', summary: summary.figures })
    return summary
  } catch (error) {
    run.setStage(name, { status: signal.aborted ? 'interrupted' : 'failed' })
    run.log(`${name}: ${(error as Error).message}`)
    throw error
  }
}
