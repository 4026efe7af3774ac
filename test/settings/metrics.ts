import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { followRun } from '../../src/pipeline/metrics/follow-run.ts'
import type { ProjectConfig } from '../../src/pipeline/settings.ts'
import { emptyRun, rlStep } from '../metrics/make-run.ts'
import { type Effects, seenBy } from './effects.ts'
import { folder } from './places.ts'

const logs = join(folder, 'logs')

/** What a folder for TensorBoard gets while a run trains, and what is reported. */
async function sent(config: ProjectConfig): Promise<unknown> {
  rmSync(logs, { recursive: true, force: true })
  using run = emptyRun()
  const said: string[] = []
  const end = followRun(run, config, (text) => said.push(text))
  rlStep(run, 1)
  await end('done')
  const file = join(logs, run.id, `events.out.tfevents.${run.id}`)
  const text = existsSync(file) ? readFileSync(file, 'latin1') : ''
  return { chains: text.split('rl/chain').length - 1, rewards: text.split('rl/reward_mean').length - 1, said }
}

export const metricsEffects: Effects = {
  ...seenBy(sent, { 'metrics.sinks': { tensorboard: logs } }),
  ...seenBy(sent, { 'metrics.chains': 1 }, { 'metrics.sinks': { tensorboard: logs } }),
  ...seenBy(
    sent,
    { 'metrics.python': 'no-other-python' },
    { 'metrics.sinks': { wandb: 'coa' } },
    { 'metrics.python': 'no-such-python' },
  ),
}
