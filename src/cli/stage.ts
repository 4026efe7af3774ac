import { join } from 'node:path'
import { type ProjectConfig, writeToml } from '../settings/index.ts'
import { type Run, writeSettingsFile } from '../store/index.ts'

/** The settings a stage was started with, so that `coa run resume` can go on with the same. */
export function stageSettingsFile(dir: string, stage: string): string {
  return join(dir, `${stage}.toml`)
}

/** Does a stage's work and writes down in the run how it went. */
export async function inStage(
  run: Run,
  stage: string,
  config: ProjectConfig,
  signal: AbortSignal,
  work: () => Promise<Record<string, number>>,
): Promise<Record<string, number>> {
  writeSettingsFile(stageSettingsFile(run.dir, stage), writeToml(config))
  run.setStage(stage, { status: 'running' })
  try {
    const summary = await work()
    run.setStage(stage, { status: 'done', summary })
    return summary
  } catch (error) {
    run.setStage(stage, { status: signal.aborted ? 'interrupted' : 'failed' })
    throw error
  }
}
