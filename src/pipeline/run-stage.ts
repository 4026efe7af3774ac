import { join } from 'node:path'
import { writeToml } from '../settings/index.ts'
import type { Stage, StageContext, StageSummary } from '../stages/stage.ts'
import { writeSettingsFile } from '../store/index.ts'
import { followRun } from './metrics/follow-run.ts'
import type { MetricsSection } from './metrics/settings.ts'
import type { SinkStatus } from './metrics/sink.ts'

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
  const end = measured.includes(name) ? follow(context) : async () => {}
  try {
    signal.throwIfAborted()
    const summary = await stage.run(context, options)
    run.setStage(name, { status: 'done', summary: summary.figures })
    await end('done')
    return summary
  } catch (error) {
    const status = signal.aborted ? 'interrupted' : 'failed'
    run.setStage(name, { status })
    run.log(`${name}: ${(error as Error).message}`)
    await end(status)
    throw error
  }
}

/** The stages whose metrics are sent to the sinks of the settings. */
const measured = ['sft', 'rl', 'eval', 'compare']

function follow({ run, config, onFinding }: StageContext<object>): (status: SinkStatus) => Promise<void> {
  const { metrics } = config as { metrics?: MetricsSection }
  if (metrics === undefined) return async () => {}
  return followRun(run, { ...config, metrics }, (text) => {
    run.log(text)
    if (onFinding === undefined) process.emitWarning(text, 'Metrics')
    else onFinding(text)
  })
}
